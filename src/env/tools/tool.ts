import type { PartWithOptions } from "../../base/part-schema.ts";
import type { Waits } from "../../base/waits/waits.ts";
import type { TrainingProgress, Retriever } from "../../retrieval/retriever.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Observation } from "../../trajectory/trajectory.ts";

/** Who calls a tool, and when. Tools that use the task's gold say so in `readsGold`. */
export interface ToolContext {
  trajectoryId: string;
  task: Task;
  /** Turn of the trajectory, from 0. */
  turn: number;
  /** Of the run that the trajectory belongs to; absent outside training. */
  progress?: TrainingProgress;
  signal: AbortSignal;
}

/** What tools are made from: shared by all trajectories of a run. */
export interface ToolResources {
  retriever: Retriever;
  /** How long one call is waited for, in milliseconds; null: as long as it takes. As `defaultDeadlines` say when absent. */
  deadlineMs?: number | null;
  /** Where calls are registered while they last; this process's waits when absent. */
  register?: Waits;
}

/** Something that the policy can call. Bad arguments become an observation with a problem; only the outside's failures throw. */
export interface Tool {
  /** The action's name in a message. */
  readonly name: string;
  /** What it does, for a policy that has not been trained on it. */
  readonly description: string;
  /** The one argument's name, where arguments are structured: its value is the input. */
  readonly argument: string;
  call(input: string, context: ToolContext): Promise<Observation>;
}

/** A tool that a recipe can name. */
export interface ToolPart extends PartWithOptions {
  /** Whether it looks at the task's gold itself; one that searches passes on who asks, and the retriever says whether that reads gold. */
  readonly readsGold: boolean;
  create(options: unknown, resources: ToolResources): Tool;
}

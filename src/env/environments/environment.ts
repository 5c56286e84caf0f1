import type { PartWithOptions } from "../../base/part-schema.ts";
import type { SearchContext, TrainingProgress } from "../../retrieval/retriever.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Action, EndReason, Observation, Problem } from "../../trajectory/trajectory.ts";
import type { Budget } from "../budget.ts";
import type { Protocol } from "../protocols/protocol.ts";
import type { ToolSchema } from "../../http/chat-messages.ts";
import type { ToolResources } from "../tools/tool.ts";

/** What a message did to the world. */
export interface StepResult {
  actions: Action[];
  problems: Problem[];
  observations: Observation[];
  /** What the policy reads next; null when the trajectory has ended. */
  reply: string | null;
  end: EndReason | null;
}

/** One trajectory's world: a seeded object, not shared. */
export interface Episode {
  /** What the policy reads first. */
  readonly prompt: string;
  /**
   * Applies a message.
   * @param final true: the last message; tools are not run.
   */
  step(message: string, options: { final: boolean; signal: AbortSignal }): Promise<StepResult>;
  /** The same state again, independent from here on: for branches. */
  fork(): Episode;
}

/** Tasks made into episodes, under one grammar and its budgets. */
export interface Environment {
  readonly protocol: Protocol;
  readonly budgets: readonly Budget[];
  /** Whether a tool, or the retriever behind it, looks at the task's gold: then what is measured here is no result. */
  readonly readsGold: boolean;
  /** Its tools as JSON schemas, for servers and templates that have a place for them. */
  readonly toolSchemas: readonly ToolSchema[];
  /** The question as a prompt. @param context text shown before the question's answer, for strategies that search first. */
  renderPrompt(task: Task, context?: string): string;
  start(
    task: Task,
    options: { trajectoryId: string; seed: number; progress?: TrainingProgress | undefined },
  ): Episode;
  /** One search with the environment's own tool, outside any episode. */
  search(query: string, searchContext: SearchContext, signal: AbortSignal): Promise<Observation>;
}

/** An environment that a recipe can name. */
export interface EnvironmentPart extends PartWithOptions {
  create(options: unknown, resources: ToolResources): Environment;
}

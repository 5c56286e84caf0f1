import {
  ConfigError,
  type ErrorCode,
  errorMessage,
  InternalError,
  RolloutError,
} from "../base/errors.ts";
import { asPluginError } from "../base/plugins.ts";
import type { Environment } from "../env/environments/environment.ts";
import type { TrainingProgress } from "../retrieval/retriever.ts";
import type { Roles } from "../trajectory/role.ts";
import type { Task } from "../trajectory/task.ts";
import type { EndReason, Trajectory } from "../trajectory/trajectory.ts";
import type { Policy } from "./policy.ts";
import type { Sampling } from "./sampling.ts";

export interface RolloutOptions {
  policy: Policy;
  environment: Environment;
  task: Task;
  id: string;
  groupId: string;
  purpose: Trajectory["purpose"];
  seed: number;
  sampling: Sampling;
  signal: AbortSignal;
  progress?: TrainingProgress;
  /** The recipe's models, and `policy`, for strategies that ask one; none when absent. */
  roles?: Roles;
  clock?: () => number;
  /** Called after each turn of the dialogue with the record so far. Strategies with prompts of their own report at the end only. */
  onTurn?: (trajectory: Trajectory) => void;
}

/** Records a whole trajectory, with failures of tools and endpoints; any other error is thrown. @param play plays it; sets `answer`. */
export async function record(
  options: RolloutOptions,
  play: (trajectory: Trajectory) => Promise<EndReason>,
): Promise<Trajectory> {
  const trajectory = emptyTrajectory(options);
  await recordOn(trajectory, () => play(trajectory));
  return trajectory;
}

/** As `record`, on a trajectory that is under way. @returns how it ended; null: it has not. */
export async function recordOn(
  trajectory: Trajectory,
  play: () => Promise<EndReason | null>,
): Promise<EndReason | null> {
  let end: EndReason | null;
  try {
    end = await play();
  } catch (error) {
    if (!(error instanceof RolloutError)) throw error;
    const boundary = BOUNDARIES.get(error.code) ?? "model";
    end = ENDS.get(error.code) ?? (boundary === "tool" ? "tool-error" : "model-error");
    trajectory.error = { boundary, code: error.code, message: error.message };
  }
  if (end !== null) trajectory.end = end;
  return end;
}

const ENDS = new Map<ErrorCode, EndReason>([
  ["AGENT_TIMEOUT", "timeout"],
  ["EPISODE_QUIT", "cancelled"],
]);

const BOUNDARIES = new Map<ErrorCode, string>([
  ["TOOL_FAILED", "tool"],
  ["TOOL_TIMEOUT", "tool"],
  ["AGENT_FAILED", "agent"],
  ["AGENT_TIMEOUT", "agent"],
]);

/** An empty trajectory. */
export function emptyTrajectory(options: RolloutOptions): Trajectory {
  return {
    id: options.id,
    taskId: options.task.id,
    groupId: options.groupId,
    purpose: options.purpose,
    seed: options.seed,
    calls: [],
    turns: [],
    answer: null,
    end: "cancelled",
    rewards: [],
    reward: null,
  };
}

/** A tool's failure is the trajectory's. An interruption, a bug and a mistake in a plugin end the run. */
export async function runTools<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    signal.throwIfAborted();
    const mistake = asPluginError(error);
    const isPlugins = mistake instanceof ConfigError && mistake.code === "PLUGIN_FAILED";
    if (isPlugins || error instanceof InternalError || error instanceof RolloutError) throw mistake;
    throw new RolloutError("TOOL_FAILED", `tool: ${errorMessage(error)}`, { cause: error });
  }
}

/** Adds the duration of some work to the trajectory's, if there is a clock. */
export async function timed<T>(
  { clock }: RolloutOptions,
  trajectory: Trajectory,
  part: "modelMs" | "searchMs",
  work: () => Promise<T>,
): Promise<T> {
  if (clock === undefined) return work();
  const begun = clock();
  try {
    return await work();
  } finally {
    const timings = (trajectory.timings ??= {});
    timings[part] = (timings[part] ?? 0) + clock() - begun;
  }
}

/** Appends a branch's record to a trajectory of the same question. @param chain name of its turns; their own is kept behind: `2/draft`. */
export function appendBranch(into: Trajectory, part: Trajectory, chain: string): void {
  const offset = into.calls.length;
  for (const call of part.calls)
    into.calls.push({ ...call, parent: call.parent === null ? null : call.parent + offset });
  for (const turn of part.turns) {
    const own = turn.chain === undefined ? chain : `${chain}/${turn.chain}`;
    into.turns.push({ ...turn, call: turn.call + offset, chain: own });
  }
  for (const hint of part.hints ?? [])
    (into.hints ??= []).push({ ...hint, call: hint.call + offset });
  if (part.given !== undefined) (into.given ??= []).push(...part.given);
  if (part.timings === undefined) return;
  const { firstTokenMs, modelMs, searchMs } = part.timings;
  const timings = (into.timings ??= {});
  if (firstTokenMs !== undefined) timings.firstTokenMs ??= firstTokenMs;
  if (modelMs !== undefined) timings.modelMs = (timings.modelMs ?? 0) + modelMs;
  if (searchMs !== undefined) timings.searchMs = (timings.searchMs ?? 0) + searchMs;
}

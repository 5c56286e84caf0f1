import { type PartWithOptions, definer } from "../base/define-part.ts";
import { ConfigError, RolloutError } from "../base/errors.ts";
import type { Resolved } from "../base/schedule.ts";
import { z } from "../base/schema.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { RewardContext } from "./context.ts";
import type { RewardExpectations } from "./expectations.ts";

/** A trajectory and its task. */
export interface Scored {
  trajectory: Trajectory;
  task: Task;
}

/**
 * A value for one place: a call (or the call of a turn) as a whole, the token `token` of its completion, the tokens up to `endToken`
 * (exclusive), or, of a turn, the characters `span` (end exclusive) of its text.
 */
export type PlacedValue = { value: number } & (
  | { call: number; token?: number; endToken?: number }
  | { turn: number; span?: readonly [from: number, to: number] }
);

/** A value for the whole trajectory, or one for each place; null: it cannot be scored. */
export type RewardResult = number | null | readonly PlacedValue[];

/** How good trajectories are. `null` means "cannot be scored": left out of the baseline, advantage 0, counted. */
export interface Reward extends PartWithOptions {
  /** answer: it pays for right answers, and `agentrl reward check` tests what it pays in known cases. shaping: anything else. */
  readonly kind: "answer" | "shaping";
  /** Smallest and largest value of one result, or of one place of it. */
  readonly range: readonly [number, number];
  /** The paper or code that it follows; empty where there is none. */
  readonly source: string;
  /** Whether it gives values for places under these options, not one for the trajectory: estimators and exports ask before anything runs. */
  isPlaced(options: Readonly<Record<string, unknown>>): boolean;
  /** What it must see at once: one trajectory, the trajectories of a group, or those of a batch. */
  readonly scope: "trajectory" | "group" | "batch";
  /** The metric of every evaluation that is the same number: tables show it once. */
  readonly metric?: string;
  /** What it gives to answers that are known to be right, wrong or meant to cheat. Only answer rewards have it. */
  readonly expects?: RewardExpectations;
  /**
   * Scores what its scope says: one trajectory, or all of a group or batch. Must not change them.
   * @param options numbers in place of schedules.
   * @returns one result per trajectory, in order, or the failure of a model.
   */
  score(
    scored: readonly Scored[],
    options: Record<string, unknown>,
    context: RewardContext,
  ): Promise<RewardOutcome[]>;
}

/** A result, or the failure of a model for which there is none. */
export type RewardOutcome = RewardResult | RolloutError;

type Awaitable<T> = T | Promise<T>;

export interface RewardHead<S extends z.ZodObject> {
  name: string;
  summary: string;
  /** What a recipe may set; nothing when absent. */
  options?: S;
  /** No limits when absent. */
  range?: readonly [number, number];
  source?: string;
  metric?: string;
  /** Whether it may return values for places; a function where options decide. False when absent: a list is then an error. */
  placed?: boolean | ((options: z.output<S>) => boolean);
}

type RewardKind =
  { kind: "answer"; expects: RewardExpectations } | { kind?: "shaping"; expects?: undefined };

type RewardBody<S extends z.ZodObject> =
  | {
      scope?: "trajectory";
      /** Scores one trajectory. */
      score(
        scored: Scored,
        options: Resolved<z.output<S>>,
        context: RewardContext,
      ): Awaitable<RewardResult>;
    }
  | {
      scope?: Reward["scope"];
      /** Scores all that the scope says at once: for rewards that compare, and for models that are asked in batches. */
      scoreAll(
        scored: readonly Scored[],
        options: Resolved<z.output<S>>,
        context: RewardContext,
      ): Awaitable<readonly RewardOutcome[]>;
    };

/**
 * A reward, from its name, its options and one function. The function may be synchronous.
 *
 * @throws {ConfigError} PLUGIN_BAD_PART without its function; REWARD_FAILED for an answer reward without `expects`.
 * @example
 * defineReward({
 *   name: "brevity",
 *   summary: "1 for an answer of few words, else 0.",
 *   options: z.strictObject({ maxWords: z.int().default(5) }),
 *   score: ({ trajectory }, { maxWords }) =>
 *     (trajectory.answer ?? "").split(/\s+/).length <= maxWords ? 1 : 0,
 * })
 */
export function defineReward<S extends z.ZodObject>(
  described: RewardHead<S> & RewardKind & RewardBody<S>,
): Reward {
  const { name, kind, placed = false } = described;
  // A plug-in in plain JavaScript may leave it out.
  if (kind === "answer" && !("expects" in described)) {
    throw new ConfigError(
      "REWARD_FAILED",
      `reward "${name}": kind is "answer" and expects is missing. Declare what it gives in known cases (answerExpectations()), or set kind to "shaping".`,
    );
  }
  // The options are those of a recipe, checked, with numbers in place of schedules, so they are not checked again.
  const typed = (given: Record<string, unknown>) => given as Resolved<z.output<S>>;
  const score: Reward["score"] | undefined =
    "scoreAll" in described
      ? async (scored, given, context) => {
          try {
            return [...(await described.scoreAll(scored, typed(given), context))];
          } catch (error) {
            if (error instanceof RolloutError) return scored.map(() => error);
            throw error;
          }
        }
      : typeof described.score === "function"
        ? (scored, given, context) =>
            Promise.all(
              scored.map((each) => outcomeOf(() => described.score(each, typed(given), context))),
            )
        : undefined;
  const isPlaced: Reward["isPlaced"] = (options) =>
    typeof placed === "function" ? placed(options as z.output<S>) : placed;
  return define({ ...described, score, isPlaced } as Parameters<typeof define>[0]);
}

const define = definer<Reward>()("reward", {
  defaults: {
    options: z.strictObject({}),
    kind: "shaping",
    range: [-Infinity, Infinity],
    source: "",
    scope: "trajectory",
  },
  members: { options: "schema" },
  functions: {},
});

async function outcomeOf(score: () => Awaitable<RewardResult>): Promise<RewardOutcome> {
  try {
    return await score();
  } catch (error) {
    if (error instanceof RolloutError) return error;
    throw error;
  }
}

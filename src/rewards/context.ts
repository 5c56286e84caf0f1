import { sha256 } from "../base/files.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import type { AskedTokens, Roles } from "../trajectory/role.ts";

/** What a reward may use beside the trajectories: models, the retriever, what it computed before, earlier steps. */
export interface RewardContext {
  /** The recipe's `models:`, and `policy`. */
  readonly roles: Roles;
  /** The environment's retriever; null where it searches nothing. */
  readonly retriever: Retriever | null;
  /** Results kept for the rest of the run, for this reward under these options. */
  readonly cache: RewardCache;
  readonly history: RewardHistory;
  /** The run's step, from 0; 0 outside training. */
  readonly step: number;
  /** Steps of the run; 1 outside training. */
  readonly totalSteps: number;
  readonly signal: AbortSignal;
  /**
   * Log-probability (nats, temperature 1) of each token of a text after a prompt.
   * @param role a name in `models:`; the policy when absent.
   * @returns null where the model gives no log-probabilities, or the text does not fit its context.
   */
  readonly logprobs: (
    prompt: string,
    text: string,
    role?: string,
  ) => Promise<readonly number[] | null>;
  /**
   * Log-probabilities (nats) of the policy's tokens under a model, in their sequences.
   * @returns per sequence, as long as its ids; NaN where nothing was asked. null where the model gives none, where it does not fit its
   *   context, and where it lacks the place of the text that is shown.
   * @throws {ConfigError} VOCABULARIES_DIFFER
   */
  readonly tokenLogprobs: (
    sequences: readonly ShownSequence[],
    role: string,
  ) => Promise<readonly (readonly number[] | null)[]>;
  /**
   * Log-probabilities (nats) with which the policy sampled the tokens that wrote some characters of a turn's text.
   * @param span characters, end exclusive, at least one.
   * @returns null where they are not on record: a server keeps the tokens, or the text was forced.
   */
  readonly sampled: (
    trajectory: Trajectory,
    turn: number,
    span: readonly [from: number, to: number],
  ) => readonly number[] | null;
}

/** A sequence, and what the model that scores it reads beside it. */
export interface ShownSequence extends AskedTokens {
  /** A text that stands right after the first occurrence of another. */
  shown?: { after: string; text: string };
}

/** Results by content: equal questions to a model are asked once. */
export interface RewardCache {
  /**
   * The value that was made for this content before, else a new one. A failure is not kept.
   * @param content anything that JSON can write; equal JSON is equal content.
   */
  get<T>(content: unknown, make: () => Promise<T>): Promise<T>;
}

/** Figures of earlier steps. The training loop keeps them with its checkpoints. */
export interface RewardHistory {
  /**
   * Mean of a reward over the batch of an earlier step.
   * @param name of the reward's entry in the recipe.
   * @param stepsBack 1 is the step before.
   * @returns null where there was no such step, or nothing was scored.
   */
  mean(name: string, stepsBack: number): number | null;
}

/** The history of a first step, and of anything outside training. */
export const NO_HISTORY: RewardHistory = { mean: () => null };

/** The results of all rewards of a run. */
export interface SharedCache {
  /** The part of the cache that belongs to one reward under one set of options. */
  of(reward: string, options: unknown): RewardCache;
}

/** Entries kept at most: some steps of a large batch. The oldest go first. */
const CACHED_RESULTS = 50_000;

export function sharedCache(limit = CACHED_RESULTS): SharedCache {
  const kept = new Map<string, Promise<unknown>>();
  return {
    of: (reward, options) => ({
      get<T>(content: unknown, make: () => Promise<T>): Promise<T> {
        const key = sha256(JSON.stringify([reward, options, content]));
        const known = kept.get(key);
        if (known !== undefined) return known as Promise<T>;
        const made = make();
        kept.set(key, made);
        made.catch(() => kept.delete(key));
        const [oldest] = kept.keys();
        if (kept.size > limit && oldest !== undefined) kept.delete(oldest);
        return made;
      },
    }),
  };
}

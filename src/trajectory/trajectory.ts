/**
 * The central record: everything upstream writes it, everything downstream reads it.
 *
 * A trajectory is a list of *calls* to a model. A call continues the token sequence of its `parent` call (a chat: each
 * extends the last) or, with `parent: null`, starts from a prompt built anew. Two calls with one parent are a branch.
 * Tokens in, tokens out: ids are kept as they were sampled and never decoded and re-encoded.
 */

/** Who wrote a token. From it a rule (`lossOn`) makes the loss mask. */
export type Owner = "policy" | "environment" | "template" | "inserted";

/** A run of tokens with one owner. */
export interface Segment {
  owner: Owner;
  ids: number[];
  /** Log-probability (nats) of each id under the distribution that it was sampled from; null where nothing was sampled. */
  logprobs: number[] | null;
  /** What it says, where the tokens are a remote server's own; `ids` is then empty. */
  text?: string;
}

/** Why a model stopped writing: its end token, a stop string, its token budget, or the context was full. */
export type CallFinish = "eos" | "stop" | "length" | "context";

/** One request to a model. */
export interface Call {
  /** Index in `calls` of the call whose whole sequence (prompt and completion) this one continues; null: built anew. */
  parent: number | null;
  /** Which model answered: "policy", or the role's name in the recipe. */
  role: string;
  /** Number of optimiser steps that the sampled weights had seen; null for a model that is not trained. */
  policyVersion: number | null;
  /** Tokens put after the parent's sequence before sampling. Those of owner "inserted" are withheld from whoever learns from it. */
  prompt: Segment[];
  /** What the model wrote; tokens forced on it are segments of owner "inserted". */
  completion: Segment[];
  finish: CallFinish;
  /** Tokens as a remote server counted them; absent where they stand here, or where it does not count. */
  usage?: { promptTokens: number; completionTokens: number };
  /** What a remote model thought before its message, where its server tells that apart. Not shown to it again. */
  reasoning?: string;
}

/** What the policy asked for, as its protocol parsed it. */
export interface Action {
  /** Name of the tool, or "answer". */
  tool: string;
  /** Argument as text; tools with structured arguments parse it themselves. */
  input: string;
}

/** Something a turn did wrong, by the protocol's own codes; what follows from it is the policy `onInvalid`'s choice. */
export interface Problem {
  code: string;
  message: string;
}

/** What came back for one action. Only `text` is shown to the policy, and only `text` is ever shortened. */
export interface Observation {
  tool: string;
  text: string;
  /** Ids of the passages shown, best first. */
  passageIds?: string[];
  /** Anything structured that rewards may read. */
  data?: unknown;
  problem?: Problem;
}

/** One policy message and what came back. */
export interface Turn {
  /** Index in `calls`. */
  call: number;
  /** The message's text up to the protocol's cut, as scored. */
  text: string;
  actions: Action[];
  problems: Problem[];
  observations: Observation[];
  /** What the environment paid for this message alone; absent where it pays none. Rewards may pass it on. */
  reward?: number;
  /** Status of the world after it, in the environment's own words ("hole", "goal", "illegal-move"); absent where it has none. */
  status?: string;
  /**
   * Which line of a strategy it belongs to, where it has several: a draft that was not kept, one of several chains, a module. Absent on
   * the trajectory's main line.
   */
  chain?: string;
  /** The strategy tried this message and dropped it: it is on record, and no loss learns from it. */
  dropped?: true;
}

/**
 * A place that a reward is about: a call's whole completion, or its tokens from `token` to `endToken` (exclusive; one token where it is
 * absent), counted within the completion. A turn is addressed by its call; a span of characters is mapped to tokens when it is scored.
 */
export interface RewardAddress {
  call: number;
  token?: number;
  endToken?: number;
}

/** A reward by name and address. */
export interface RewardValue {
  name: string;
  /** null: cannot be scored. */
  value: number | null;
  /** null: the whole trajectory. */
  at: RewardAddress | null;
}

/** Text that was put into a message, or before it, for the policy to go on from: a segment of owner "inserted" holds it. */
export interface InsertedHint {
  /** Name of the hint's part. */
  name: string;
  /** Index in `calls` of the call that it stands in. */
  call: number;
  text: string;
  /** It stands in the call's prompt: read by the policy, and not shown to whoever learns from the trajectory. */
  withheld?: true;
  /** It told what the question's annotations or references know: the trajectory is no result. */
  readsGold?: true;
}

/** Why a trajectory may end. A closed list: the reason can be scored. */
export const END_REASONS = [
  /** The world ended: the last turn's `status` says how. */
  "done",
  "answered",
  "no-answer",
  "turn-limit",
  "token-limit",
  "context-limit",
  /** A budget of calls or of the whole response is used up. */
  "budget-limit",
  "invalid",
  "tool-error",
  "model-error",
  "timeout",
  "cancelled",
] as const;

export type EndReason = (typeof END_REASONS)[number];

export interface Trajectory {
  id: string;
  taskId: string;
  /** Trajectories that are compared with each other; any number, not necessarily adjacent. */
  groupId: string;
  /** What it was made for; only "train" enters a batch. */
  purpose: "train" | "eval" | "baseline";
  seed: number;
  calls: Call[];
  turns: Turn[];
  /** The first `calls` calls are those of the trajectory `of` (its id), from which this one branched off: a token is learned once. */
  branch?: { of: string; calls: number };
  /** What a strategy searched for before it asked, shown in the first prompt; no search of the policy's. */
  given?: Observation[];
  /** Hints that were put into its messages, in order. */
  hints?: InsertedHint[];
  /** The final answer by the protocol's extraction rule; null when there is none. */
  answer: string | null;
  /** How sure a strategy is of the answer, 0 to 1, where it can say: a share of votes. */
  confidence?: number;
  end: EndReason;
  /** Present when `end` is an error: which border it crossed and what it said. */
  error?: { boundary: string; code: string; message: string };
  rewards: RewardValue[];
  /** The combined reward; null when it cannot be scored, or before scoring. */
  reward: number | null;
  /**
   * Wall time in milliseconds by part; the only field that differs between two runs of one seed, and not written to files.
   * `firstTokenMs`: until a server began the first message.
   */
  timings?: Partial<Record<"modelMs" | "firstTokenMs" | "searchMs", number>>;
}

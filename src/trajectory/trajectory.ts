/**
 * The central record: everything upstream writes it, everything downstream reads it. A trajectory is a list of *calls* to a model. A call
 * continues the token sequence of its `parent` call (a chat) or, with `parent: null`, starts from a new prompt. Two calls with one parent are
 * a branch. Ids are kept as they were sampled and never decoded and re-encoded.
 */

/** Who wrote a token. The rule `lossOn` turns owners into the loss mask. */
export type Owner = "policy" | "environment" | "template" | "inserted";

/** A run of tokens with one owner. */
export interface Segment {
  owner: Owner;
  ids: number[];
  /** Log-probability (nats) of each id over the whole vocabulary at the call's temperature, before top-k …; null: not sampled. */
  logprobs: number[] | null;
  /** Text, if a remote server keeps the tokens; `ids` is then empty. */
  text?: string;
}

/** Why a model stopped writing: EOS, a stop string, its token budget, or a full context. */
export type CallFinish = "eos" | "stop" | "length" | "context";

/** One request to a model. */
export interface Call {
  /** Index in `calls` of the call whose whole sequence (prompt and completion) this one continues; null: a new prompt. */
  parent: number | null;
  /** Which model answered: "policy", or the role's name in the recipe. */
  role: string;
  /** Optimizer steps of the sampled weights; null for a model that is not trained. */
  policyVersion: number | null;
  /** Tokens between the parent's sequence and the completion. Training removes those of owner "inserted". */
  prompt: Segment[];
  /** What the model wrote; tokens forced on it are segments of owner "inserted". */
  completion: Segment[];
  finish: CallFinish;
  /** At which its tokens were sampled, where that is neither 1 nor 0 (greedy): log-probabilities are at this temperature. */
  temperature?: number;
  /** The budget of the context dropped tokens of its prompt. */
  cut?: true;
  /** A remote server's token counts; absent if the ids are recorded here, or the server does not count. */
  usage?: { promptTokens: number; completionTokens: number };
  /** Reasoning that a server returns separately from the message. Later prompts omit it. */
  reasoning?: string;
}

/** What the policy asked for, as its protocol parsed it. */
export interface Action {
  tool: string;
  /** Argument as text; tools with structured arguments parse it themselves. */
  input: string;
}

/** An error in a message, by the protocol's own codes; the setting `onInvalid` decides what follows. */
export type Problem = { code: string; message: string };

/** Result of one action. The policy sees only `text`, and only `text` may be shortened. */
export interface Observation {
  tool: string;
  text: string;
  passageIds?: string[];
  /** The policy was shown only a part of the text: its budget was too small. */
  cut?: true;
  /** Structured data for rewards. */
  data?: unknown;
  problem?: Problem;
  /** The trajectory's answer, which the call gave: a program's final_answer(…). It ends the episode. */
  answer?: string;
  /** Calls of other tools that the tool, or an agent of it, made for this one, in order. The policy sees none of them. */
  calls?: InnerCall[];
}

/** A tool's call of another tool of the environment. */
export interface InnerCall extends Observation {
  input: string;
}

/** An observation and those behind it, each before its own. */
export function withInnerCalls(observation: Observation): Observation[] {
  return [observation, ...(observation.calls ?? []).flatMap(withInnerCalls)];
}

/** The answer that a call of the last turns gave; null: none did. */
export function answerOfCalls(turns: readonly Pick<Turn, "observations">[]): string | null {
  const given = turns.flatMap(({ observations }) =>
    observations.flatMap(({ answer }) => answer ?? []),
  );
  return given.at(-1) ?? null;
}

/** One policy message and its observations. */
export interface Turn {
  call: number;
  /** The message's text up to the protocol's cut, as scored. */
  text: string;
  actions: Action[];
  problems: Problem[];
  observations: Observation[];
  /** The environment's reward for this message alone; absent if it gives none. Rewards may pass it on. */
  reward?: number;
  /** State of the environment after it, in its own words ("hole", "goal", "illegal-move"); absent if it has none. */
  status?: string;
  /** The strategy's branch of a rejected draft, one of several chains, a module; absent on the main line. */
  chain?: string;
  /** The strategy tried this message and dropped it: it is recorded, but no loss trains on it. */
  dropped?: true;
}

/**
 * Where a reward applies: a call's whole completion, or its tokens from `token` to `endToken` (exclusive; default `token` + 1). A turn's
 * address is its call; scoring maps a span of characters to tokens.
 */
export type RewardAddress = { call: number; token?: number; endToken?: number };

/** A reward by name and address. */
export interface RewardValue {
  name: string;
  /** null: cannot be scored. */
  value: number | null;
  /** null: the whole trajectory. */
  at: RewardAddress | null;
}

/** Text inserted into a message or used as its prefill: a segment of owner "inserted" holds it. */
export interface InsertedHint {
  name: string;
  call: number;
  text: string;
  /** It is in the call's prompt: the policy reads it, but training on the trajectory does not. */
  withheld?: true;
  /** It contained gold annotations or references: the trajectory must not count as a result. */
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
  /** Its purpose; only "train" enters a batch. */
  purpose: "train" | "eval" | "baseline";
  seed: number;
  calls: Call[];
  turns: Turn[];
  /** The first `calls` calls are those of the trajectory `of` (its id), from which this one branched off: a token is learned once. */
  branch?: { of: string; calls: number };
  /** Searches by the strategy itself before the first prompt, which shows their results. */
  given?: Observation[];
  /** Hints inserted into its messages, in order. */
  hints?: InsertedHint[];
  /** The final answer by the protocol's extraction rule; null if there is none. */
  answer: string | null;
  /** The strategy's confidence in the answer, 0 to 1, if it has one: a share of votes. */
  confidence?: number;
  end: EndReason;
  /** Present when `end` is an error: its boundary, code and message. */
  error?: { boundary: string; code: string; message: string };
  rewards: RewardValue[];
  /** The combined reward; null when it cannot be scored, or before scoring. */
  reward: number | null;
  /** Wall time by part, the only field that differs between two runs of one seed; not written to files. `firstTokenMs`: of a server. */
  timings?: Partial<Record<"modelMs" | "firstTokenMs" | "searchMs", number>>;
}

/** What opens an answer in every grammar. */
const OPENING = "<answer>";

/**
 * The share of what the policy wrote before its first answer, in characters (a server may keep its tokens); null without an answer.
 * @example "<think>abc</think><answer>d</answer>" // 18 of 36 characters: .5
 */
export function firstAnswerAt({ turns }: Pick<Trajectory, "turns">): number | null {
  const written = turns.map(({ text }) => text).join("");
  const at = written.indexOf(OPENING);
  return at < 0 ? null : at / written.length;
}

/** Whether a message is no valid action: it has a problem, or each of its calls has one, so that it did nothing. */
export function isInvalidTurn(turn: Pick<Turn, "problems" | "observations">): boolean {
  const { problems, observations } = turn;
  // prettier-ignore
  const failed = observations.filter(({ problem }) => problem !== undefined);
  return problems.length > 0 || (failed.length > 0 && failed.length === observations.length);
}

/** Whether an observation comes from a search tool of any name. */
export function isSearch({ tool, passageIds }: Observation): boolean {
  return tool === "search" || passageIds !== undefined;
}

/** Searches that were run in a trajectory. */
export function searchCount({ turns }: Pick<Trajectory, "turns">): number {
  const all = turns.flatMap(({ observations }) => observations.flatMap(withInnerCalls));
  return all.filter(isSearch).length;
}

/** What was searched for in a trajectory, in order, by tools for a call too. The observations of a turn answer its actions in order. */
export function searchQueries({ turns }: Pick<Trajectory, "turns">): string[] {
  return turns.flatMap(({ actions, observations }) => {
    const asked = actions.filter(({ tool }) => tool !== "answer");
    return observations.flatMap((observation, i) =>
      queriesOf({ ...observation, input: asked[i]?.input ?? "" }),
    );
  });
}

function queriesOf(call: InnerCall): string[] {
  return [...(isSearch(call) ? [call.input] : []), ...(call.calls ?? []).flatMap(queriesOf)];
}

/** The text of token ids, special tokens included: a tokenizer's `decode`. */
export type Decode = (ids: readonly number[]) => string;

/** Text of a segment; null if it has only ids and there is no tokenizer. */
export function segmentText({ text, ids }: Segment, decode: Decode | null): string | null {
  if (text !== undefined) return text;
  if (decode !== null) return decode(ids);
  return ids.length === 0 ? "" : null;
}

/** `segmentText` by a tokenizer. */
export function textsBy(decode: Decode | null): (segment: Segment) => string | null {
  return (segment) => segmentText(segment, decode);
}

/** The first prompt as the model got it; null if its text is unknown. */
export function promptText({ calls }: Trajectory, decode: Decode | null): string | null {
  const texts = (calls[0]?.prompt ?? []).map((segment) => segmentText(segment, decode));
  return calls.length === 0 || texts.includes(null) ? null : texts.join("");
}

/** One sequence as the model saw it, with the owner of each token. */
export interface TokenRow {
  calls: number[];
  ids: number[];
  owners: Owner[];
  /** At sampling, nats; NaN for tokens that were not sampled. */
  logprobs: number[];
  /** Of the call of each token. */
  temperatures: number[];
  /** Which call each token belongs to. */
  callOf: number[];
}

/** The token sequences of a trajectory: one for each call that no other call continues; branches share their prefix. */
export function tokenRows(trajectory: Pick<Trajectory, "calls">): TokenRow[] {
  const { calls } = trajectory;
  const continued = new Set(calls.map(({ parent }) => parent));
  return calls.flatMap((_, index) => {
    if (continued.has(index)) return [];
    const row: TokenRow = {
      calls: chainTo(calls, index),
      ids: [],
      owners: [],
      logprobs: [],
      temperatures: [],
      callOf: [],
    };
    for (const call of row.calls) {
      const { prompt = [], completion = [], temperature = 1 } = calls[call] ?? {};
      for (const segment of [...prompt, ...completion]) append(row, segment, { call, temperature });
    }
    return [row];
  });
}

/** All tokens of a call's sequence: its parents', its prompt and its completion. */
export function sequenceIds(calls: readonly Call[], index: number): number[] {
  return chainTo(calls, index).flatMap((each) => {
    const { prompt = [], completion = [] } = calls[each] ?? {};
    return [...prompt, ...completion].flatMap(({ ids }) => ids);
  });
}

/** Number of tokens that the policy wrote: recorded ids, or a remote server's own count. */
export function policyTokenCount(trajectory: Pick<Trajectory, "calls">): number {
  let count = 0;
  for (const { completion, usage } of trajectory.calls) {
    count += usage?.completionTokens ?? 0;
    for (const { owner, ids } of completion) if (owner === "policy") count += ids.length;
  }
  return count;
}

function chainTo(calls: readonly Call[], index: number): number[] {
  const chain: number[] = [];
  for (let at: number | null = index; at !== null; at = calls[at]?.parent ?? null)
    chain.unshift(at);
  return chain;
}

function append(
  row: TokenRow,
  { owner, ids, logprobs }: Segment,
  { call, temperature }: { call: number; temperature: number },
): void {
  ids.forEach((id, i) => {
    row.ids.push(id);
    row.owners.push(owner);
    row.logprobs.push(logprobs?.[i] ?? NaN);
    row.temperatures.push(temperature);
    row.callOf.push(call);
  });
}

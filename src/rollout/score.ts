import { inspect } from "node:util";
import { AgentrlError, ConfigError, errorMessage, RolloutError } from "../base/errors.ts";
import { groupedBy } from "../base/grouped-by.ts";
import { asPluginError } from "../base/plugins.ts";
import type { Registry } from "../base/registry.ts";
import { resolveSchedules, type Scheduled, valueAt } from "../base/schedule.ts";
import { rewards } from "../rewards/index.ts";
import {
  NO_HISTORY,
  type RewardContext,
  type SharedCache,
  sharedCache,
} from "../rewards/context.ts";
import type { RewardExpression } from "../rewards/expression/expression.ts";
import type {
  PlacedValue,
  Reward,
  RewardOutcome,
  RewardResult,
  Scored,
} from "../rewards/reward.ts";
import type { Tokenizer } from "../text/tokenizer.ts";
import { noRoles } from "../trajectory/role.ts";
import type { RewardAddress, RewardValue, Segment, Trajectory } from "../trajectory/trajectory.ts";
import { tokenSpan } from "./cut-tokens.ts";
import { withShownText } from "./shown-text.ts";

/** A reward in a recipe. */
export interface WeightedReward {
  name: string;
  as?: string | undefined;
  /** Its share in the combined reward; 0 computes and records it without training on it. */
  weight: Scheduled;
  /** Beside an expression: scored only where this reads it. */
  lazy?: boolean | undefined;
  options: Record<string, unknown>;
}

/** The name that an expression's value is recorded under, where weighted rewards are added to it. */
const EXPRESSION = "expression";

/** Optional resources of scoring. */
export interface Scoring extends Partial<
  Pick<RewardContext, "roles" | "retriever" | "history" | "step" | "totalSteps" | "signal">
> {
  /** Added to the weighted sum; default: nothing. */
  expression?: RewardExpression | undefined;
  /** State that the caller keeps for a whole run; without it calls are independent. */
  cache?: SharedCache;
  /** The policy's tokenizer: without it a span of characters is recorded as its whole call. */
  tokenizer?: Tokenizer;
  registry?: Registry<Reward>;
}

/** A reward that could not score some trajectories, because a model failed. */
export type Unscored = { reward: string; trajectories: number; code: string; message: string };

/**
 * Scores trajectories in place: every reward by name (and address), and the combined reward: the weighted sum, and the expression's value;
 * null for one that ended in an error or has a null among the rewards that count. Recorded values are kept; a reward of scope group or batch
 * is computed again where trajectories lack a value. @returns rewards for which a model failed.
 * @throws {ConfigError} PART_UNKNOWN; REWARD_FAILED, with the reward's name, when its code throws or returns no reward.
 */
export async function scoreTrajectories(
  scored: readonly Scored[],
  weighted: readonly WeightedReward[],
  scoring: Scoring = {},
): Promise<Unscored[]> {
  const { registry = rewards, expression, step = 0, totalSteps = 1 } = scoring;
  const unscored: Unscored[] = [];
  const sums = scored.map(({ trajectory }): number | null =>
    trajectory.error === undefined ? 0 : null,
  );
  const leaves = scored.map(({ trajectory }) => {
    return { trajectory, values: new Map<string, number | null>() };
  });
  const { history = NO_HISTORY } = scoring;
  const time = { step, totalSteps, history };
  const names = weighted.map(({ name, as = name }) => as);
  const earlier = takeRecorded(scored, expression === undefined ? names : [...names, EXPRESSION]);
  const lazy = weighted.filter((each) => each.lazy === true && expression !== undefined);
  const score = async (reward: WeightedReward, wanted: readonly Scored[]): Promise<void> => {
    const { name, as = name, weight: setWeight, options } = reward;
    const part = await registry.load(name, "rewards");
    if (part.scope !== "trajectory" && lazy.includes(reward))
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        `rewards (${name}).lazy is true: it compares the trajectories of a ${part.scope}, so it needs all of them. Leave lazy out.`,
      );
    const weight = valueAt(setWeight, step, totalSteps);
    const given = resolveSchedules(options, step, totalSteps);
    const fresh = withoutValues(part.scope, wanted, (each) => earlier(each, as).length > 0);
    const outcomes = await outcomesOf(part, fresh, given, contextOf(name, given, scoring));
    noteFailures(as, outcomes, unscored);
    const found = new Map(fresh.map((each, i) => [each, outcomes[i] ?? null]));
    const asked = new Set(wanted);
    scored.forEach((each, i) => {
      if (!asked.has(each)) return;
      const { trajectory } = each;
      const outcome = found.get(each);
      const result = outcome instanceof RolloutError ? null : outcome;
      const values =
        result === undefined
          ? earlier(each, as)
          : recordedValues(part, as, result, { trajectory, given, ...scoring });
      trajectory.rewards.push(...values);
      leaves[i]?.values.set(as, total(0, 1, values));
      if (weight !== 0) sums[i] = total(sums[i] ?? null, weight, values);
    });
  };
  for (const each of weighted) if (!lazy.includes(each)) await score(each, scored);
  for (const each of lazy) {
    const { name, as = name } = each;
    await score(
      each,
      scored.filter((row) => earlier(row, as).length > 0),
    );
  }
  if (expression !== undefined) {
    // A value that was missing may decide which others are read.
    for (let isNew = lazy.length > 0; isNew;) {
      isNew = false;
      for (const each of lazy) {
        const { name, as = name } = each;
        const reads = expression.reads(as, leaves, time);
        const wanted = scored.filter((_, i) => reads[i] && leaves[i]?.values.has(as) === false);
        await score(each, wanted);
        isNew ||= wanted.length > 0;
      }
    }
    const isAlone = weighted.every(({ weight }) => weight === 0);
    expression.combine(leaves, time).forEach((value, i) => {
      const values = [{ name: EXPRESSION, value, at: null }];
      if (!isAlone) scored[i]?.trajectory.rewards.push(...values);
      sums[i] = total(sums[i] ?? null, 1, values);
    });
  }
  scored.forEach(({ trajectory }, i) => (trajectory.reward = sums[i] ?? null));
  return unscored;
}

/** The share of each reward's values in the combined reward, by the name that they are recorded under. */
export function weightsAt(
  weighted: readonly WeightedReward[],
  { step = 0, totalSteps = 1 }: Pick<Scoring, "step" | "totalSteps">,
): ReadonlyMap<string, number> {
  return new Map([
    ...weighted.map(
      ({ name, as = name, weight }) => [as, valueAt(weight, step, totalSteps)] as const,
    ),
    [EXPRESSION, 1],
  ]);
}

function total(sum: number | null, weight: number, values: readonly RewardValue[]): number | null {
  return values.reduce<number | null>(
    (running, { value }) => (running === null || value === null ? null : running + weight * value),
    sum,
  );
}

function contextOf(
  name: string,
  options: Record<string, unknown>,
  { roles = noRoles, retriever = null, history = NO_HISTORY, ...scoring }: Scoring,
): RewardContext {
  const { step = 0, totalSteps = 1, cache = sharedCache() } = scoring;
  const signal = scoring.signal ?? new AbortController().signal;
  return {
    roles,
    retriever,
    history,
    step,
    totalSteps,
    signal,
    cache: cache.of(name, options),
    logprobs: (prompt, text, role = "policy") =>
      roles.get(role, `reward "${name}": role`).logprobs(prompt, text, signal),
    async tokenLogprobs(sequences, role) {
      const none = sequences.map(() => null);
      const { tokenizer } = scoring;
      // Without the policy's own tokenizer its ids mean nothing, as where scripts play it.
      if (tokenizer === undefined || sequences.length === 0) return none;
      const model = roles.get(role, `reward "${name}": role`);
      const widened = sequences.map((each) => withShownText(each, tokenizer));
      const asked = widened.filter((each) => each !== null);
      const found = (await model.tokenLogprobs?.(asked, tokenizer, signal)) ?? [];
      let at = 0;
      return widened.map((each) => {
        if (each === null) return null;
        const logprobs = found[at++] ?? null;
        return logprobs === null ? null : each.narrow(logprobs);
      });
    },
    sampled: (trajectory, turn, span) => sampledLogprobs(trajectory, turn, span, scoring.tokenizer),
  };
}

/** What the policy's tokens of some characters were sampled with; null where it is not on record. */
function sampledLogprobs(
  { turns, calls }: Trajectory,
  index: number,
  span: readonly [number, number],
  tokenizer: Tokenizer | undefined,
): number[] | null {
  const turn = turns[index];
  const completion = calls[turn?.call ?? -1]?.completion ?? [];
  const found = turn === undefined ? null : writtenBy(completion, turn.text, span, tokenizer);
  if (found === null) return null;
  const logprobs = completion.flatMap((each) => each.logprobs ?? each.ids.map(() => null));
  const sampled = logprobs.slice(found.token, found.endToken).filter((each) => each !== null);
  return sampled.length === 0 ? null : sampled;
}

/** The tokens of a call's completion that wrote some characters of its turn; null where they are not known. */
function writtenBy(
  completion: readonly Segment[],
  text: string,
  span: readonly [number, number],
  tokenizer: Tokenizer | undefined,
): ReturnType<typeof tokenSpan> {
  if (tokenizer === undefined) return null;
  const ids = completion.flatMap((segment) => segment.ids);
  return tokenSpan(ids, text, span, tokenizer);
}

/** Takes recorded values of these rewards off their trajectories, by recorded name; none for a name that two rewards share. */
function takeRecorded(
  scored: readonly Scored[],
  names: readonly string[],
): (scored: Scored, as: string) => RewardValue[] {
  const recorded = new Map(scored.map((each) => [each, each.trajectory.rewards]));
  for (const { trajectory } of scored)
    trajectory.rewards = trajectory.rewards.filter(({ name }) => !names.includes(name));
  return (each, as) => {
    const isShared = names.indexOf(as) !== names.lastIndexOf(as);
    const values = recorded.get(each)?.filter(({ name }) => name === as) ?? [];
    return isShared ? [] : values;
  };
}

/** What must be scored: everything that the scope shows together with a trajectory without a value. */
function withoutValues(
  scope: Reward["scope"],
  scored: readonly Scored[],
  hasValues: (each: Scored) => boolean,
): readonly Scored[] {
  const missing = scored.filter((each) => !hasValues(each));
  if (scope === "trajectory" || missing.length === 0) return missing;
  if (scope === "batch") return scored;
  const groups = new Set(missing.map(({ trajectory }) => trajectory.groupId));
  return scored.filter(({ trajectory }) => groups.has(trajectory.groupId));
}

async function outcomesOf(
  reward: Reward,
  scored: readonly Scored[],
  options: Record<string, unknown>,
  context: RewardContext,
): Promise<RewardOutcome[]> {
  if (scored.length === 0) return [];
  if (reward.scope !== "group") return scoreChecked(reward, scored, options, context);
  const groups = groupedBy(scored, ({ trajectory }) => trajectory.groupId);
  const outcomes = new Map<Scored, RewardOutcome>();
  for (const members of groups.values()) {
    const part = await scoreChecked(reward, members, options, context);
    members.forEach((each, k) => outcomes.set(each, part[k] ?? null));
  }
  return scored.map((each) => outcomes.get(each) ?? null);
}

async function scoreChecked(
  reward: Reward,
  scored: readonly Scored[],
  options: Record<string, unknown>,
  context: RewardContext,
): Promise<RewardOutcome[]> {
  let outcomes: RewardOutcome[];
  try {
    outcomes = await reward.score(scored, options, context);
  } catch (error) {
    context.signal.throwIfAborted();
    if (error instanceof AgentrlError) throw error;
    const mistake = asPluginError(error);
    if (mistake !== error) throw mistake;
    throw failed(reward, `threw ${errorMessage(error)}`, error);
  }
  if (outcomes.length !== scored.length)
    throw failed(reward, `gave ${outcomes.length} results for ${scored.length} trajectories`);
  const odd = outcomes.findIndex((each: unknown) => {
    const isResult = each === null || typeof each === "number" || Array.isArray(each);
    return !isResult && !(each instanceof RolloutError);
  });
  if (odd < 0) return outcomes;
  throw failed(reward, `returned ${inspect(outcomes[odd])}`);
}

function failed({ name }: Reward, problem: string, cause?: unknown): ConfigError {
  const message = `reward "${name}" ${problem}. It must return a number, null or a list of placed values for each trajectory; correct its code.`;
  return new ConfigError("REWARD_FAILED", message, { cause });
}

function noteFailures(
  reward: string,
  outcomes: readonly RewardOutcome[],
  unscored: Unscored[],
): void {
  const failures = outcomes.filter((each) => each instanceof RolloutError);
  const [first] = failures;
  if (first === undefined) return;
  const { code, message } = first;
  unscored.push({ reward, trajectories: failures.length, code, message });
}

type RecordingPlace = {
  trajectory: Trajectory;
  given: Record<string, unknown>;
  tokenizer?: Tokenizer;
};

function recordedValues(
  reward: Reward,
  name: string,
  result: RewardResult,
  place: RecordingPlace,
): RewardValue[] {
  if (result === null) return [{ name, value: null, at: null }];
  if (typeof result === "number") {
    requireInRange(reward, result);
    return [{ name, value: result, at: null }];
  }
  if (!reward.isPlaced(place.given))
    throw failed(reward, "returned a list and does not declare placed: true");
  return result.map((placed) => {
    requireInRange(reward, placed.value);
    return { name, value: placed.value, at: addressOf(reward, placed, place) };
  });
}

const ROUNDING = 1e-9;

function requireInRange(reward: Reward, value: number): void {
  const [low, high] = reward.range;
  const isNumber = typeof (value as unknown) === "number";
  if (isNumber && value >= low - ROUNDING && value <= high + ROUNDING) return;
  throw failed(reward, `gave ${inspect(value)}, which is outside its range, ${low} to ${high}`);
}

function addressOf(
  reward: Reward,
  placed: PlacedValue,
  { trajectory, tokenizer }: RecordingPlace,
): RewardAddress {
  if ("call" in placed) {
    const { value: _, ...at } = placed;
    if (trajectory.calls[at.call] !== undefined) return at;
    throw failed(reward, `gave a value to call ${at.call} of ${trajectory.calls.length}`);
  }
  const { turn: index, span } = placed;
  const turn = trajectory.turns[index];
  if (turn === undefined)
    throw failed(reward, `gave a value to turn ${index} of ${trajectory.turns.length}`);
  const { call, text } = turn;
  if (span === undefined) return { call };
  const [from, to] = span;
  if (!(from >= 0 && from < to && to <= text.length))
    throw failed(reward, `gave a value to characters ${from} to ${to} of ${text.length}`);
  const completion = trajectory.calls[call]?.completion ?? [];
  return { call, ...writtenBy(completion, text, span, tokenizer) };
}

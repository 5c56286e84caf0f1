import type { Registry } from "../../base/registry.ts";
import type { Environment } from "../../env/environments/environment.ts";
import type { Retriever } from "../../retrieval/retriever.ts";
import { type Expectation, REWARD_CASES, type RewardCase } from "../../rewards/expectations.ts";
import { rewards as allRewards } from "../../rewards/index.ts";
import type { Reward, Scored } from "../../rewards/reward.ts";
import { scriptedPolicy } from "../../rollout/policy.ts";
import { rollOut } from "../../rollout/roll-out.ts";
import { GREEDY } from "../../rollout/sampling.ts";
import { scoreTrajectories, type WeightedReward } from "../../rollout/score.ts";
import { makeTokenizer, type Tokenizer } from "../../text/tokenizer.ts";
import { wordTokenizer } from "../../text/word-tokenizer.ts";
import type { Task } from "../../trajectory/task.ts";
import { mean } from "../../base/statistics.ts";
import { type Script, scriptsOf } from "./scripts.ts";

/** One case of one reward, over all questions. */
export interface CheckedCase {
  case: RewardCase;
  /** As the reward declares it, in words. */
  expected: string;
  /** Smallest and largest value given; null where a trajectory could not be scored. */
  got: readonly [number, number] | null;
  ok: boolean;
  /** The first question that went wrong. */
  failed: { question: string; value: number | null; answer: string | null } | null;
}

/** What a reward did with every case. */
export interface CheckedReward {
  name: string;
  weight: number;
  cases: CheckedCase[];
}

/** The outcome of a check. */
export interface RewardCheck {
  ok: boolean;
  questions: number;
  /** Trajectories played. */
  trajectories: number;
  rewards: CheckedReward[];
  /**
   * The largest share of a golden answer's whole reward, weights applied, that a case reaches whose writer knew no reference; null
   * where a golden answer earns nothing.
   */
  withoutAnswering: { case: RewardCase; share: number } | null;
  /** Cases that the protocol gives no way to write. */
  notWritten: RewardCase[];
}

export interface CheckRewardsOptions {
  /** As the recipe uses them. */
  rewards: readonly WeightedReward[];
  /** The recipe's environment and protocol over `goldRetriever()`; a message may be long (`DEFAULT_TURN_TOKENS` would cut it). */
  environment: Environment;
  /** Real questions; a few are enough. */
  tasks: readonly Task[];
  signal: AbortSignal;
  /** Where names are looked up. */
  registry?: Registry<Reward>;
}

interface Played extends Scored {
  script: Script;
}

/**
 * Holds rewards to what they declare: every case is written by a scripted policy, played through environment and protocol on every
 * question, and scored by each reward alone.
 */
export async function checkRewards(options: CheckRewardsOptions): Promise<RewardCheck> {
  const { rewards, environment, tasks, signal, registry = allRewards } = options;
  const played: Played[] = [];
  const tokenizer = byteTokenizer();
  for (const task of tasks) {
    for (const script of scriptsOf(environment, task, tasks)) {
      const id = `${task.id}/${script.case}/${played.length}`;
      const trajectory = await play({ tokenizer, environment, signal }, task, script, id);
      played.push({ task, trajectory, script });
    }
  }
  const checked: CheckedReward[] = [];
  const totals = played.map(() => 0);
  for (const weighted of rewards) {
    const values = await valuesOf(played, weighted, registry);
    values.forEach((value, i) => (totals[i] = (totals[i] ?? 0) + weighted.weight * (value ?? 0)));
    const { name, weight } = weighted;
    checked.push({
      name,
      weight,
      cases: checkCases(registry.get(name, "rewards"), played, values),
    });
  }
  const written = new Set(played.map(({ script }) => script.case));
  return {
    ok: checked.every(({ cases }) => cases.every(({ ok }) => ok)),
    questions: tasks.length,
    trajectories: played.length,
    rewards: checked,
    withoutAnswering: hackable(played, totals),
    notWritten: CASES.filter((name) => !written.has(name)),
  };
}

const CASES = Object.keys(REWARD_CASES) as RewardCase[];

/** A search that always shows the accepted answers: what a reward must not pay for. */
export function goldRetriever(): Retriever {
  return {
    name: "gold-answers",
    fingerprint: "gold-answers",
    reads: ["references"],
    search: (queries, _k, { contexts = [] } = {}) =>
      Promise.resolve(
        queries.map((_, i) => {
          const text = contexts[i]?.task.references.join(", ") ?? "";
          return [{ id: "gold", title: "The answer", text, score: 1 }];
        }),
      ),
    close: () => Promise.resolve(),
  };
}

/** Every byte has a token: whatever a script writes comes back as it was. */
function byteTokenizer(): Tokenizer {
  const files = wordTokenizer({ words: [], specials: ["<|end|>", "<|pad|>"] });
  return makeTokenizer(files.tokenizer, files.config, "reward check");
}

function play(
  setting: Pick<CheckRewardsOptions, "environment" | "signal"> & { tokenizer: Tokenizer },
  task: Task,
  { messages }: Script,
  id: string,
): Promise<Scored["trajectory"]> {
  const { tokenizer, environment, signal } = setting;
  const policy = scriptedPolicy(
    tokenizer,
    ({ turns }) => messages[turns.length] ?? messages.at(-1) ?? "",
  );
  return rollOut({
    ...{ policy, environment, task, id, groupId: id, purpose: "eval", seed: 0 },
    ...{ sampling: GREEDY, signal },
  });
}

/** What a reward alone gives to every trajectory. */
async function valuesOf(
  played: readonly Played[],
  reward: WeightedReward,
  registry: Registry<Reward>,
): Promise<(number | null)[]> {
  const alone = played.map(({ task, trajectory }): Scored => {
    return { task, trajectory: { ...trajectory, rewards: [], reward: null } };
  });
  await scoreTrajectories(alone, [{ ...reward, weight: 1 }], registry);
  return alone.map(({ trajectory }) => trajectory.reward);
}

function checkCases(
  reward: Reward,
  played: readonly Played[],
  values: readonly (number | null)[],
): CheckedCase[] {
  return CASES.flatMap((name): CheckedCase[] => {
    const own = played.flatMap((each, i) =>
      each.script.case === name ? [{ ...each, value: values[i] ?? null }] : [],
    );
    if (own.length === 0) return [];
    const failed = own.find((each) => !isMet(expectationOf(reward, each), each.value));
    const numbers = own.map(({ value }) => value).filter((value) => value !== null);
    const whole = numbers.length === own.length;
    return [
      {
        case: name,
        expected: inWords(reward.expects[name]),
        got: whole ? [Math.min(...numbers), Math.max(...numbers)] : null,
        ok: failed === undefined,
        failed:
          failed === undefined
            ? null
            : { question: failed.task.id, value: failed.value, answer: failed.trajectory.answer },
      },
    ];
  });
}

function expectationOf(
  { expects }: Reward,
  { script, trajectory }: Played,
): Exclude<Expectation, "as-extracted"> {
  const declared = expects[script.case];
  if (declared !== "as-extracted") return declared;
  const follows = expects[trajectory.answer === script.reference ? "golden" : "wrong"];
  return follows === "as-extracted" ? { from: -Infinity, below: Infinity } : follows;
}

/** Sums of a few fractions need not be exact. */
const ROUNDING = 1e-9;

function isMet(expected: Exclude<Expectation, "as-extracted">, value: number | null): boolean {
  if (value === null) return false;
  if (typeof expected === "number") return Math.abs(value - expected) <= ROUNDING;
  return value >= expected.from - ROUNDING && value < expected.below;
}

function inWords(expected: Expectation): string {
  if (expected === "as-extracted") return "as extracted";
  if (typeof expected === "number") return String(expected);
  return `${expected.from} to <${expected.below}`;
}

function hackable(
  played: readonly Played[],
  totals: readonly number[],
): RewardCheck["withoutAnswering"] {
  const meanOf = (name: RewardCase): number =>
    mean(totals.filter((_, i) => played[i]?.script.case === name));
  const golden = meanOf("golden");
  if (!(golden > 0)) return null;
  const shares = CASES.filter((name) => !REWARD_CASES[name].knows)
    .map((name) => ({ case: name, share: meanOf(name) / golden }))
    .filter(({ share }) => !Number.isNaN(share));
  return shares.reduce((most, each) => (each.share > most.share ? each : most));
}

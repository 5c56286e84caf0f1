import type { Registry } from "../../base/registry.ts";
import type { Environment } from "../../env/environments/environment.ts";
import type { Retriever } from "../../retrieval/retriever.ts";
import { type Expectation, REWARD_CASES, type RewardCase } from "../../rewards/expectations.ts";
import { sharedCache } from "../../rewards/context.ts";
import { rewards as allRewards } from "../../rewards/index.ts";
import type { Reward, Scored } from "../../rewards/reward.ts";
import { scriptedPolicy } from "../../rollout/policy.ts";
import { rollOut } from "../../rollout/roll-out.ts";
import { GREEDY } from "../../rollout/sampling.ts";
import {
  scoreTrajectories,
  type Scoring,
  type Unscored,
  type WeightedReward,
} from "../../rollout/score.ts";
import { makeTokenizer, type Tokenizer } from "../../text/tokenizer.ts";
import { wordTokenizer } from "../../text/word-tokenizer.ts";
import type { Task } from "../../trajectory/task.ts";
import { mean } from "../../base/statistics.ts";
import { type Script, scriptsOf } from "./scripts.ts";

/** One case of one reward, over all questions. */
export interface CheckedCase {
  case: RewardCase;
  expected: string | null;
  got: readonly [number, number] | null;
  ok: boolean;
  failed: { question: string; value: number | null; answer: string | null } | null;
}

/** Result of a reward on every case. */
export interface CheckedReward {
  name: string;
  weight: WeightedReward["weight"];
  kind: Reward["kind"];
  cases: CheckedCase[];
  /** Why it could not be checked: one of its models failed. Absent if it was checked. */
  unscored?: string;
}

/** The combined reward, mean over the questions. */
export type CheckedSum = { ok: boolean; golden: number; most: { case: RewardCase; value: number } };

/** The outcome of a check. */
export interface RewardCheck {
  ok: boolean;
  questions: number;
  trajectories: number;
  rewards: CheckedReward[];
  /** null if not judged: a reward was checked alone, or an accepted answer could not be scored. */
  combined: CheckedSum | null;
  /** The largest share of an accepted answer's reward that a case without the answer earns; null if an accepted answer earns nothing. */
  withoutAnswering: { case: RewardCase; share: number } | null;
  notWritten: RewardCase[];
  notApplicable?: string;
}

export interface CheckRewardsOptions {
  rewards: readonly WeightedReward[];
  scoring?: Pick<Scoring, "expression" | "roles">;
  judgesSum?: boolean;
  /** The recipe's environment and protocol over `goldRetriever()`; a message may be long (`DEFAULT_TURN_TOKENS` would cut it). */
  environment: Environment;
  tasks: readonly Task[];
  signal: AbortSignal;
  registry?: Registry<Reward>;
}

interface Played extends Scored {
  script: Script;
}

/** Checks rewards by scripted plays: each must give what it declares, and no case without the answer may earn more than an accepted one. */
export async function checkRewards(options: CheckRewardsOptions): Promise<RewardCheck> {
  const { rewards, environment, tasks, signal, judgesSum = true } = options;
  const registry = options.registry ?? allRewards;
  const played: Played[] = [];
  const tokenizer = byteTokenizer();
  for (const task of tasks) {
    for (const script of scriptsOf(environment, task, tasks)) {
      const id = `${task.id}/${script.case}/${played.length}`;
      const trajectory = await play({ tokenizer, environment, signal }, task, script, id);
      played.push({ task, trajectory, script });
    }
  }
  const scoring = { ...options.scoring, registry, signal, cache: sharedCache() };
  const checked: CheckedReward[] = [];
  for (const weighted of rewards) {
    const { name, as = name, weight } = weighted;
    const part = await registry.load(name, "rewards");
    const alone = { ...scoring, expression: undefined };
    const { values, unscored } = await scoreCopies(played, [{ ...weighted, weight: 1 }], alone);
    const expects = unscored === null ? part.expects : undefined;
    checked.push({
      name: as,
      weight,
      kind: part.kind,
      cases: checkCases(expects, played, values),
      unscored: unscored?.message,
    });
  }
  const combined = paidFor(played, (await scoreCopies(played, rewards, scoring)).values);
  const written = new Set(played.map(({ script }) => script.case));
  const areSound = checked.every(({ cases }) => cases.every(({ ok }) => ok));
  return {
    ok: areSound && (!judgesSum || combined === null || combined.ok),
    questions: tasks.length,
    trajectories: played.length,
    rewards: checked,
    combined: judgesSum ? combined : null,
    withoutAnswering: shareWithout(combined),
    notWritten: CASES.filter((name) => !written.has(name)),
  };
}

/** The outcome for an environment without answers: no failure. */
export function notCheckable(why: string): RewardCheck {
  return {
    ok: true,
    questions: 0,
    trajectories: 0,
    rewards: [],
    combined: null,
    withoutAnswering: null,
    notWritten: [],
    notApplicable: why,
  };
}

const CASES = Object.keys(REWARD_CASES) as RewardCase[];

const ACCEPTED = new Set<RewardCase>(["golden", "golden-after-search"]);

/** A search that always shows the accepted answers: rewards must not pay for them if the policy did not answer. */
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

/** Every byte has a token, so that decoding returns a script's exact text. */
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
    policy,
    environment,
    task,
    id,
    groupId: id,
    purpose: "eval",
    seed: 0,
    sampling: GREEDY,
    signal,
  });
}

async function scoreCopies(
  played: readonly Played[],
  rewards: readonly WeightedReward[],
  scoring: Scoring,
): Promise<{ values: (number | null)[]; unscored: Unscored | null }> {
  const copies = played.map(({ task, trajectory }): Scored => {
    return { task, trajectory: { ...trajectory, rewards: [], reward: null } };
  });
  const [unscored = null] = await scoreTrajectories(copies, rewards, scoring);
  return { values: copies.map(({ trajectory }) => trajectory.reward), unscored };
}

/** @param expects absent if nothing is declared or can be tested. */
function checkCases(
  expects: Reward["expects"],
  played: readonly Played[],
  values: readonly (number | null)[],
): CheckedCase[] {
  return CASES.flatMap((name): CheckedCase[] => {
    const own = played.flatMap((each, i) =>
      each.script.case === name ? [{ ...each, value: values[i] ?? null }] : [],
    );
    if (own.length === 0) return [];
    const failed =
      expects === undefined
        ? undefined
        : own.find((each) => !isMet(expectationOf(expects, each), each.value));
    const numbers = own.map(({ value }) => value).filter((value) => value !== null);
    const whole = numbers.length === own.length;
    return [
      {
        case: name,
        expected: expects === undefined ? null : inWords(expects[name]),
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
  expects: NonNullable<Reward["expects"]>,
  { script, trajectory }: Played,
): Exclude<Expectation, "as-extracted"> {
  const declared = expects[script.case];
  if (declared !== "as-extracted") return declared;
  const { answer } = trajectory;
  const follows = expects[answer === script.reference ? "golden" : "wrong"];
  // Of more than one answer, as of a whole message, the reward takes its own part.
  const isOpen = answer !== script.reference && answer?.includes(script.reference) === true;
  return follows === "as-extracted" || isOpen ? { from: -Infinity, below: Infinity } : follows;
}

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

/** The reward of accepted answers and the highest reward without knowledge of them; null if either could not be scored. */
function paidFor(played: readonly Played[], totals: readonly (number | null)[]): CheckedSum | null {
  const paid = CASES.flatMap((name) => {
    const values = totals.flatMap((value, i) =>
      played[i]?.script.case === name && value !== null ? [value] : [],
    );
    return values.length === 0 ? [] : [{ case: name, value: mean(values) }];
  });
  const accepted = paid.filter((each) => ACCEPTED.has(each.case)).map(({ value }) => value);
  const others = paid.filter((each) => !REWARD_CASES[each.case].knows);
  if (others.length === 0 || accepted.length === 0) return null;
  const golden = Math.max(...accepted);
  const most = others.reduce((best, each) => (each.value > best.value ? each : best));
  return { ok: most.value <= golden + ROUNDING, golden, most };
}

function shareWithout(combined: CheckedSum | null): RewardCheck["withoutAnswering"] {
  if (combined === null || !(combined.golden > 0)) return null;
  const { golden, most } = combined;
  return { case: most.case, share: most.value / golden };
}

import { isDeepStrictEqual } from "node:util";
import type { OnPolicyOptions } from "../algorithms/algorithm.ts";
import { type Scheduled, valueAt } from "../base/schedule.ts";
import { type Budget, budgetOf, largestBudgets, observationTokens } from "../env/budget.ts";
import type { Sampling } from "../rollout/sampling.ts";
import { strategies } from "../rollout/strategies/index.ts";
import { DEFAULT_TURN_TOKENS } from "../rollout/token-dialogue.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { expressionProblem, rewardProblem } from "./exported-rewards.ts";
import {
  type Allowed,
  type ExportFacts,
  type Rule,
  rule,
  type TrainerKeys,
  unused,
} from "./rule.ts";

/** Holds the settings that the exported Python plays and scores episodes by. */
export const EXPERIMENT_FILE = "experiment.json";

/** A value that is the only one allowed. */
export const only = (value: unknown): Allowed => ({
  says: JSON.stringify(value),
  is: (given) => isDeepStrictEqual(given, value),
});

/** One of several values. */
export const oneOf = (...values: readonly unknown[]): Allowed => ({
  says: values.map((each) => (typeof each === "string" ? each : JSON.stringify(each))).join(", "),
  is: (given) => values.includes(given),
});

/** An advantage estimator as a recipe names it. */
export interface NamedAdvantage {
  name: string;
  scale?: unknown;
  epsilon?: number;
}

/** What trainers add to a group's deviation. */
const EPSILON = 1e-6;

/** Estimators of GRPO and RLOO, with the options that trainers have. */
export const plainAdvantage: Allowed<NamedAdvantage> = {
  says: "group with scale and epsilon, or leave-one-out, without other options",
  is: ({ name, scale: _, epsilon: __, ...rest }, settings) =>
    (name === "group" || name === "leave-one-out") && isOfWhole(rest, settings),
};

/** Rewards with a value at each turn or token, beside those with `per: turn`. */
const PLACED = new Set(["search-gain", "query-keywords", "distillation", "tool-count"]);

/** Whether a reward counts at turns or tokens of its own, which trainers compare as a sum over the trajectory. */
function isPlaced({ name, ...options }: Settings["rewards"][number]): boolean {
  return PLACED.has(name) || (options as { per?: unknown }).per === "turn";
}

/** Whether an estimator has no other option than where rewards of a place count, and sums them as trainers do. */
export function isOfWhole(options: object, { rewards }: Settings): boolean {
  const { addressed, ...others } = options as { addressed?: unknown };
  const isSum = addressed === "trajectory" || !rewards.some(isPlaced);
  return Object.keys(others).length === 0 && isSum;
}

/** How a trainer's addition to the deviation differs from the recipe's. */
export function epsilonDiffers({ epsilon = EPSILON }: NamedAdvantage): string | null {
  return epsilon === EPSILON ? null : `${EPSILON} is added to a group's deviation, not ${epsilon}`;
}

/** The options of the recipe's algorithm, which has been checked. */
export function algorithmOf({ algorithm }: Settings): OnPolicyOptions {
  return algorithm as unknown as OnPolicyOptions;
}

/** Settings of draws in vLLM's words. */
export function sampled(place: string, { temperature, topP, topK, minP }: Sampling): TrainerKeys {
  return {
    [`${place}.temperature`]: temperature,
    [`${place}.top_p`]: topP,
    [`${place}.top_k`]: topK === 0 ? -1 : topK,
    [`${place}.min_p`]: minP,
  };
}

/** Optimizer steps for each batch of rollouts. */
export function updatesPerStep(settings: Settings): number {
  const { minibatches, epochs } = algorithmOf(settings);
  return minibatches * epochs;
}

/** Trainers that count steps and epochs of whole batches: their two keys. */
export const stepsRule = (stepsKey: string, epochsKey: string): Rule =>
  rule<number>("algorithm.steps", {
    allowed: { says: "at least 1", is: (steps) => steps > 0 },
    to: (steps, { settings, rows, gpus }) => ({
      [stepsKey]: steps,
      [epochsKey]: Math.ceil(
        steps / Math.max(1, Math.floor(rows.train / wholeGroups({ settings, gpus }).step)),
      ),
    }),
  });

/** Prompts of a minibatch and of a step: whole groups and, where the trainer deals them out evenly, as many trajectories for each card. */
function wholeGroups({ settings, gpus }: Pick<ExportFacts, "settings" | "gpus">): {
  minibatch: number;
  step: number;
} {
  const { promptsPerStep, groupSize, minibatches } = algorithmOf(settings);
  const most = Math.floor(promptsPerStep / minibatches);
  let minibatch = most;
  while (minibatch > 1 && (minibatch * groupSize) % gpus !== 0) minibatch -= 1;
  if ((minibatch * groupSize) % gpus !== 0) minibatch = most;
  return { minibatch, step: minibatch * minibatches };
}

/** Trainers that keep groups whole in a minibatch: their keys of the prompts of a step and of a minibatch. @param evenly whether each card gets as many trajectories. */
export const wholeGroupsRules = (
  stepKey: string,
  minibatchKey: string,
  { evenly = false }: { evenly?: boolean } = {},
): Rule[] => {
  const whole = (settings: Settings, gpus: number) =>
    wholeGroups({ settings, gpus: evenly ? gpus : 1 });
  return [
    rule<number>("algorithm.promptsPerStep", {
      to: (_, { settings, gpus }) => ({ [stepKey]: whole(settings, gpus).step }),
      differs: (count, settings, { gpus }) => {
        const { step } = whole(settings, gpus);
        const cards = evenly && gpus > 1 ? `, evenly on ${gpus} cards` : "";
        return step === count
          ? null
          : `${step} in place of ${count}, which ${algorithmOf(settings).minibatches} minibatches of whole groups divide${cards}`;
      },
    }),
    rule<number>("algorithm.minibatches", {
      allowed: {
        says: "at most algorithm.promptsPerStep, since groups are kept whole",
        is: (count, settings) => algorithmOf(settings).promptsPerStep >= count,
      },
      to: (_, { settings, gpus }) => ({ [minibatchKey]: whole(settings, gpus).minibatch }),
      differs: (count) =>
        count === 1 ? null : "a minibatch is whole groups, not single trajectories",
    }),
  ];
};

/** The length that `fixed-length-mean` divides by; other aggregations have none. */
export const fixedLengthRule = (key: string): Rule =>
  rule("algorithm.fixedLength", {
    to: (length, { settings }) =>
      algorithmOf(settings).lossAggregation === "fixed-length-mean" ? { [key]: length } : {},
  });

/** Advantages and their scale, in trainers that name both estimators. */
export const advantageRules = (estimatorKey: string, byStdKey: string): Rule[] => [
  rule<NamedAdvantage>("algorithm.advantage", {
    allowed: plainAdvantage,
    differs: epsilonDiffers,
    to: ({ name, scale = "group" }) => ({
      [estimatorKey]: name === "group" ? "grpo" : "rloo",
      [byStdKey]: scale === "group",
    }),
  }),
  rule("algorithm.scale", { to: (scale) => ({ [byStdKey]: scale === "group" }) }),
];

/** The budgets that the exported episodes keep; undefined where the recipe has none of the kind. */
export function exportedBudgets(budgets: readonly Budget[]) {
  const limitOf = (scope: Budget["scope"]): number | undefined =>
    budgets.find((each) => each.scope === scope && !forgets(each))?.limit as number | undefined;
  const turns = budgets.find(({ scope, unit }) => scope === "trajectory" && unit === "turns");
  return {
    turns: turns && { limit: turns.limit as number, onExhausted: turns.onExhausted },
    turnTokens: limitOf("turn"),
    observationTokens: limitOf("observation"),
    contextTokens: limitOf("context"),
  };
}

/** A context that forgets; exported episodes have room for all turns in its place. */
export const forgets = ({ scope, onExhausted }: Budget): boolean =>
  scope === "context" && onExhausted.startsWith("drop-");

export const roomForAll = (settings: Settings): string =>
  `nothing is dropped: the context has room for ${responseTokens(settings)} tokens, all turns at their longest`;

/** Tokens of an observation that no budget cuts: assumed, to leave room for it. */
const UNCUT = 500;

/** Most tokens that follow a prompt: the context, the response, or all turns at their longest; Infinity where no budget bounds them. */
export function responseTokens({ budgets, strategy }: Settings): number {
  const now = largestBudgets(budgets.filter((each) => !forgets(each)));
  const context = budgetOf(now, "context");
  if (context !== null) return context.limit;
  const turn = budgetOf(now, "turn")?.limit ?? DEFAULT_TURN_TOKENS;
  if (strategies.get(strategy.name, "strategy").prompts === "once") return turn;
  const shown = observationTokens(now) ?? UNCUT;
  const response = now.find(({ scope }) => scope === "response");
  // The last message begins within the limit. Characters and words are tokens at least.
  if (response !== undefined) return response.limit + turn + shown;
  const turns = budgetOf(now, "trajectory", "turns") ?? budgetOf(now, "trajectory", "calls");
  const ofTools = now.filter(({ unit, tool }) => unit === "calls" && tool !== undefined);
  const count =
    turns?.limit ??
    (ofTools.length === 0 ? Infinity : ofTools.reduce((sum, { limit }) => sum + limit, 0));
  return (count + 1) * turn + count * shown;
}

const BUDGETS: Readonly<Record<string, readonly string[]>> = {
  "trajectory, turns": ["final-turn", "end"],
  "turn, tokens": ["cut"],
  "observation, tokens": ["cut"],
  "context, tokens": ["end", "drop-oldest", "drop-middle"],
};

const allowedBudgets: Allowed<readonly Budget[]> = {
  says: `${Object.entries(BUDGETS)
    .map(([place, on]) => `${place}: ${on.join(" or ")}`)
    .join("; ")}; turns limited, limits that are numbers`,
  is: (budgets) =>
    budgets.some(({ scope, unit }) => scope === "trajectory" && unit === "turns") &&
    budgets.every(isExported),
  item: isExported,
};

function isExported({ scope, unit, onExhausted, limit, tool }: Budget): boolean {
  const on = BUDGETS[`${scope}, ${unit}`] ?? [];
  return on.includes(onExhausted) && typeof limit === "number" && tool === undefined;
}

/** Retrievers whose answer depends on the query alone, so a server of /retrieve can replace them. */
const SERVED = [
  ...["bm25", "dense", "hybrid", "rerank"],
  ...["search-r1-server", "opensearch", "qdrant", "web-search"],
];

/** Options of grammars of tags that the exported episodes keep. */
const protocolKeys = new Set([
  ...["invalidMessage", "resultTag", "callTags", "answerTag"],
  ...["thoughts", "blocks", "boxed", "spliced"],
]);

/** Rules that every trainer has, whatever plays the episodes. */
export const commonRules: readonly Rule[] = [
  rule("evaluation.during.questions", { unused: "trainers evaluate on all rows of validation" }),
  rule("algorithm.sampler", {
    allowed: {
      says: "shuffled",
      is: (sampler) => (sampler as { name: string }).name === "shuffled",
    },
    differs: () => "the questions come in another random order",
  }),
  rule("algorithm.filters", { allowed: only([]) }),
  rule("algorithm.maxStepsOffPolicy", { allowed: only(0) }),
  rule("algorithm.lossOn", { allowed: only(["policy"]) }),
  rule("policy.fresh", { allowed: { says: "nothing: a policy is loaded", is: () => false } }),
  ...["policy.endpoint", "policy.predictions"].map((from) =>
    rule(from, { allowed: { says: "nothing: it cannot be trained", is: () => false } }),
  ),
  // Of stages with a training, that one is exported.
  rule("stages", { allowed: { says: "stages of which one is a training", is: () => false } }),
  ...unused("settings of agentrl's own engine", ["engine", "deadlines"]),
  ...unused("checks and reports of agentrl's own runs", [
    ...["rewardCheck", "budgetCheck", "batchCheck", "reporters", "alarms", "rollback"],
  ]),
  ...unused("settings of other commands", ["synth", "sft", "preference"]),
];

/** Rules of trainers whose episodes the exported Python plays. */
export const translatedRules: readonly Rule[] = [
  ...commonRules,
  rule("policy.from", { file: EXPERIMENT_FILE }),
  rule("environment.name", { allowed: oneOf("search-qa"), file: EXPERIMENT_FILE }),
  rule<{ name: string; answer: { pattern: string } }>("environment.protocol", {
    allowed: {
      says: "search-r1 or tags, without intermediateAnswers or an answer.pattern of its own",
      is: ({ name, answer, ...options }) =>
        ["search-r1", "tags"].includes(name) &&
        answer.pattern === "<answer>(.*?)</answer>" &&
        Object.keys(options).every((key) => protocolKeys.has(key)),
    },
    file: EXPERIMENT_FILE,
  }),
  rule<readonly Record<string, unknown>[]>("environment.tools", {
    allowed: {
      says: "one tool, corpus-search, with topK and show",
      is: (tools) =>
        tools.length === 1 &&
        tools.every((tool) => tool["name"] === "corpus-search" && tool["retriever"] === undefined),
    },
    file: EXPERIMENT_FILE,
  }),
  rule("environment.prompt", { file: "data" }),
  rule("environment.onInvalid", { file: EXPERIMENT_FILE }),
  rule("environment.reissue", { allowed: only(false) }),
  rule<readonly Budget[]>("budgets", {
    allowed: allowedBudgets,
    file: EXPERIMENT_FILE,
    differs: (budgets, settings) => (budgets.some(forgets) ? roomForAll(settings) : null),
  }),
  rule<{ name: string }>("strategy", {
    allowed: { says: "agent", is: ({ name }) => name === "agent" },
    file: EXPERIMENT_FILE,
  }),
  rule("dataset", { file: "data" }),
  rule("retriever", {
    allowed: {
      says: `one that a server can stand for: ${SERVED.join(", ")}`,
      is: (retriever) =>
        namesIn(retriever).every((name) => SERVED.includes(name)) && namesIn(retriever).length > 0,
    },
    file: "README.md",
  }),
  rule<Settings["rewards"]>("rewards", {
    allowed: {
      says: "exact-match, token-f1, and tag-format with one value a trajectory; weights and options without schedules",
      is: (rewards) => rewards.every((each) => rewardProblem(each) === null),
      item: (each) => rewardProblem(each) === null,
    },
    file: EXPERIMENT_FILE,
  }),
  rule<string>("reward", {
    allowed: {
      says: "an expression over rewards, numbers, answered and turns, with if, min, max and signs other than /",
      is: (_, settings) => expressionProblem(settings) === null,
    },
    file: EXPERIMENT_FILE,
  }),
  rule("evaluation.dataset", { file: "data" }),
  rule<{ name: string }>("evaluation.strategy", {
    allowed: { says: "agent", is: ({ name }) => name === "agent" },
    file: EXPERIMENT_FILE,
  }),
  rule("evaluation.budgets", {
    allowed: {
      says: "the budgets of training",
      is: (budgets, settings) => isDeepStrictEqual(budgets, settings.budgets),
    },
  }),
  rule("evaluation.retriever", {
    allowed: {
      says: "the retriever of training, since there is one server",
      is: (retriever, settings) => isDeepStrictEqual(retriever, settings.retriever),
    },
  }),
  rule<Readonly<Record<string, object>>>("evaluation.sets", {
    file: "data",
    differs: (sets, settings) => {
      const left = Object.keys(sets).filter((name) => !exportedSets(settings).has(name));
      return left.length === 0
        ? null
        : `${left.join(", ")} not exported, since more than the questions is otherwise there`;
    },
  }),
  ...unused("asked by parts that are not exported", ["models", "retrievers"]),
];

/** Settings of a further evaluation that a validation row does not hold. */
const OF_A_SET = ["retriever", "strategy", "sampling", "budgets", "samplesPerTask", "environment"];

/** Further evaluations that differ in their questions alone, by name: they are validation rows too. */
export function exportedSets({ evaluation, ...own }: Settings): Map<string, Settings["dataset"]> {
  const plain: Readonly<Record<string, unknown>> = { ...own, ...evaluation };
  return new Map(
    Object.entries(evaluation.sets ?? {}).flatMap(
      ([name, set]): [string, Settings["dataset"]][] => {
        const given = set as Readonly<Record<string, unknown>>;
        const isAlike = OF_A_SET.every(
          (key) => given[key] === undefined || isDeepStrictEqual(given[key], plain[key]),
        );
        return isAlike && set.dataset !== undefined ? [[name, set.dataset]] : [];
      },
    ),
  );
}

/** All part names in a retriever's settings, the inner ones too. */
function namesIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  const { name, of } = value as { name?: unknown; of?: unknown };
  const inner = Array.isArray(of) ? of.flatMap(namesIn) : namesIn(of);
  return [...(typeof name === "string" ? [name] : []), ...inner];
}

/** Optimizer steps of the whole run. */
function optimizerSteps(settings: Settings): number {
  return Math.max(1, algorithmOf(settings).steps * updatesPerStep(settings));
}

/** Learning rates of all optimizer steps. */
export function learningRates(settings: Settings): number[] {
  const { learningRate } = algorithmOf(settings).optimizer;
  const count = optimizerSteps(settings);
  return Array.from({ length: count }, (_, step) => valueAt(learningRate, step, count));
}

/** A schedule as trainers with their own schedulers have it. */
interface PlainSchedule {
  kind: "constant" | "cosine";
  /** After the warm-up. */
  value: number;
  /** Where cosine ends, as a share of `value`. */
  end: number;
  /** Optimizer steps. */
  warmup: number;
}

/** The schedule in those words; null for one that they do not have. */
export function plainSchedule(rate: Scheduled, settings: Settings): PlainSchedule | null {
  if (typeof rate === "number") return { kind: "constant", value: rate, end: 1, warmup: 0 };
  if (rate.schedule !== "constant" && rate.schedule !== "cosine") return null;
  const unit = rate.unit === "steps" ? 1 : Math.max(optimizerSteps(settings) - 1, 1);
  const warmup = Math.ceil(rate.warmup * unit);
  if (rate.schedule === "constant") return { kind: "constant", value: rate.value, end: 1, warmup };
  if (rate.start !== 0 || rate.end !== undefined || rate.from <= 0) return null;
  return { kind: "cosine", value: rate.from, end: rate.to / rate.from, warmup };
}

import { isDeepStrictEqual } from "node:util";
import type { OnPolicyOptions } from "../algorithms/algorithm.ts";
import { type Scheduled, valueAt } from "../base/schedule.ts";
import { type Budget, budgetOf, largestBudgets, observationTokens } from "../env/budget.ts";
import { rewards } from "../rewards/index.ts";
import type { Sampling } from "../rollout/sampling.ts";
import { strategies } from "../rollout/strategies/index.ts";
import { DEFAULT_TURN_TOKENS } from "../rollout/token-dialogue.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { type Allowed, type Rule, rule, type TrainerKeys, unused } from "./rule.ts";

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

/** Whether a reward counts at turns or tokens of its own, which trainers compare as a sum over the trajectory. */
function isPlaced({ name, ...options }: Settings["rewards"][number]): boolean {
  return rewards.get(name, "rewards").isPlaced(options);
}

/** What GRPO needs where a trainer compares each trajectory as a whole. */
export const grpoOfWhole: Allowed<string> = {
  says: "grpo, where no reward has turns or tokens of its own (else algorithm.advantage: { name: group, addressed: trajectory })",
  is: (name, settings) =>
    name === "grpo" && (algorithmOf(settings).advantage !== undefined || isOfWhole({}, settings)),
};

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

/** Prompts of a minibatch and of a step: whole groups, as many trajectories on each of so many cards if any number is so. */
function wholeGroups(settings: Settings, cards: number): { minibatch: number; step: number } {
  const { promptsPerStep, groupSize, minibatches } = algorithmOf(settings);
  const most = Math.floor(promptsPerStep / minibatches);
  let minibatch = most;
  while (minibatch > 0 && (minibatch * groupSize) % cards !== 0) minibatch -= 1;
  minibatch ||= most;
  return { minibatch, step: minibatch * minibatches };
}

/** A trainer's keys of what a step is. */
interface StepKeys {
  steps: string;
  epochs: string;
  /** Prompts of a step and of a minibatch. */
  prompts: string;
  minibatch: readonly string[];
  /** Whether each card must get as many trajectories. */
  evenly: boolean;
}

/** Trainers that count steps and epochs of whole batches, and keep groups whole in a minibatch. */
export function stepRules({ evenly, ...keys }: StepKeys): Rule[] {
  const whole = (settings: Settings, gpus: number) => wholeGroups(settings, evenly ? gpus : 1);
  return [
    rule<number>("algorithm.steps", {
      allowed: { says: "at least 1", is: (steps) => steps > 0 },
      to: (steps, { settings, rows, gpus }) => {
        const batches = Math.max(1, Math.floor(rows.train / whole(settings, gpus).step));
        return { [keys.steps]: steps, [keys.epochs]: Math.ceil(steps / batches) };
      },
    }),
    rule<number>("algorithm.promptsPerStep", {
      to: (_, { settings, gpus }) => ({ [keys.prompts]: whole(settings, gpus).step }),
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
      to: (_, { settings, gpus }) => {
        const { minibatch } = whole(settings, gpus);
        return Object.fromEntries(keys.minibatch.map((key) => [key, minibatch]));
      },
      differs: (count) =>
        count === 1 ? null : "a minibatch is whole groups, not single trajectories",
    }),
  ];
}

/** The length that `fixed-length-mean` divides by; other aggregations have none. */
export const fixedLengthRule = (key: string): Rule =>
  rule("algorithm.fixedLength", {
    to: (length, { settings }) =>
      algorithmOf(settings).lossAggregation === "fixed-length-mean" ? { [key]: length } : {},
  });

/** GRPO's and RLOO's advantages in trainers that name both. */
export const plainAdvantageKeys =
  (estimatorKey: string, byStdKey: string) =>
  ({ name, scale = "group" }: NamedAdvantage): TrainerKeys => ({
    [estimatorKey]: name === "group" ? "grpo" : "rloo",
    [byStdKey]: scale === "group",
  });

/** The scale of the algorithm's own advantages. */
export const scaleRule = (byStdKey: string): Rule =>
  rule("algorithm.scale", { to: (scale) => ({ [byStdKey]: scale === "group" }) });

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

/** Rules that every trainer has, whatever plays the episodes. */
export const commonRules: readonly Rule[] = [
  rule("evaluation.during.questions", { unused: "trainers evaluate on all rows of validation" }),
  rule("algorithm.sampler", {
    allowed: {
      says: "shuffled",
      is: (sampler) => (sampler as { name: string }).name === "shuffled",
    },
    differs: (_, { dataset }) =>
      (dataset as { weights?: unknown }).weights === undefined
        ? "the questions come in another random order"
        : "the questions come in another random order, by the sizes of the joined datasets and not in the ratio of dataset.weights",
  }),
  rule("algorithm.filters", { allowed: only([]) }),
  rule("algorithm.maxStepsOffPolicy", { allowed: only(0) }),
  rule("algorithm.lossOn", { allowed: only(["policy"]) }),
  rule("algorithm.lossOutside", { allowed: only([]) }),
  rule("policy.fresh", { allowed: { says: "nothing: a policy is loaded", is: () => false } }),
  ...["policy.endpoint", "policy.predictions"].map((from) =>
    rule(from, { allowed: { says: "nothing: it cannot be trained", is: () => false } }),
  ),
  // Of stages with a training, that one is exported.
  rule("stages", { allowed: { says: "stages of which one is a training", is: () => false } }),
  ...unused("settings of agentrl's own engine", ["engine", "deadlines"]),
  ...unused("checks and reports of agentrl's own runs", [
    ...["rewardCheck", "budgetCheck", "batchCheck", "alarms", "rollback"],
  ]),
  ...unused("settings of other commands", ["synth", "sft", "preference"]),
];

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

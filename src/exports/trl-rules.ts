import type { Scheduled } from "../base/schedule.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { reportersRule } from "./reporters-rule.ts";
import { type Rule, rule } from "./rule.ts";
import {
  algorithmOf,
  fixedLengthRule,
  learningRates,
  type NamedAdvantage,
  oneOf,
  plainAdvantage,
  responseTokens,
  updatesPerStep,
} from "./shared-rules.ts";
import { EXPERIMENT_FILE, translatedRules } from "./translated-rules.ts";

/** Most trajectories of one forward pass; a larger batch is accumulated. */
const MOST_AT_ONCE = 8;

/** Trajectories of an optimizer step, and of a forward pass: the largest divisor of these up to 8. */
function batchOf(settings: Settings): { update: number; pass: number } {
  const { promptsPerStep, groupSize, minibatches } = algorithmOf(settings);
  const update = (promptsPerStep * groupSize) / minibatches;
  let pass = MOST_AT_ONCE;
  while (update % pass !== 0) pass -= 1;
  return { update, pass };
}

const accumulated: NonNullable<Rule["to"]> = (_, { settings }) => {
  const { update, pass } = batchOf(settings);
  const { minibatches } = algorithmOf(settings);
  return {
    per_device_train_batch_size: pass,
    gradient_accumulation_steps: update / pass,
    steps_per_generation: (update / pass) * minibatches,
  };
};

const steps: NonNullable<Rule["to"]> = (_, { settings }) => ({
  max_steps: algorithmOf(settings).steps * updatesPerStep(settings),
});

/** What the keys of a recipe are in GRPOConfig of TRL 1.16. */
export const trlRules: readonly Rule[] = [
  ...translatedRules,
  reportersRule({
    known: ["wandb", "mlflow", "tensorboard", "trackio"],
    to: (names) => ({ report_to: names }),
  }),
  rule("seed", { to: (seed) => ({ seed }) }),
  rule("policy.from", { file: "config.py" }),
  rule("policy.chat", { file: EXPERIMENT_FILE }),
  rule("policy.lora", { file: EXPERIMENT_FILE }),
  rule("budgets", {
    ...translatedRules.find(({ from }) => from === "budgets"),
    to: (_, { settings }) => ({ max_completion_length: responseTokens(settings) }),
  }),
  rule("algorithm.name", {
    allowed: oneOf("grpo"),
    differs: () => "advantages are divided by the deviation + 1e-4, not + 1e-6",
  }),
  rule<NamedAdvantage>("algorithm.advantage", {
    allowed: {
      says: "group with scale, without other options",
      is: (named, settings) => named.name === "group" && plainAdvantage.is(named, settings),
    },
    to: ({ scale = "group" }) => ({ scale_rewards: scale }),
  }),
  rule("algorithm.scale", { to: (scale) => ({ scale_rewards: scale }) }),
  rule<number>("algorithm.steps", {
    allowed: { says: "at least 1", is: (count) => count > 0 },
    to: steps,
  }),
  rule<number>("algorithm.promptsPerStep", { to: accumulated }),
  rule<number>("algorithm.groupSize", {
    allowed: { says: "at least 2", is: (size) => size > 1 },
    to: (size, facts) => ({ ...accumulated(size, facts), num_generations: size }),
  }),
  rule<number>("algorithm.minibatches", {
    allowed: {
      says: "a divisor of algorithm.promptsPerStep · algorithm.groupSize",
      is: (count, settings) => {
        const { promptsPerStep, groupSize } = algorithmOf(settings);
        return (promptsPerStep * groupSize) % count === 0;
      },
    },
    to: accumulated,
    differs: (count, settings) =>
      count > 1 && algorithmOf(settings).lossAggregation === "token-mean"
        ? "token-mean divides each minibatch by the mean number of tokens of the step's minibatches"
        : null,
  }),
  rule<number>("algorithm.epochs", { to: (epochs) => ({ num_iterations: epochs }) }),
  rule<string>("algorithm.lossAggregation", {
    to: (mode) => ({
      loss_type: { "token-mean": "dapo", "sequence-mean": "grpo", "fixed-length-mean": "dr_grpo" }[
        mode
      ],
    }),
  }),
  fixedLengthRule("max_completion_length"),
  rule("algorithm.oldLogprobs", {
    differs: (which) =>
      which === "sampled"
        ? "TRL computes old log-probabilities again, with the weights that sampled"
        : null,
  }),
  rule("algorithm.importanceSamplingCap", {
    allowed: {
      says: "absent: the exported rollouts give no sampled log-probabilities",
      is: () => false,
    },
  }),
  rule("algorithm.clipLow", { to: (clip) => ({ epsilon: clip }) }),
  rule("algorithm.clipHigh", { to: (clip) => ({ epsilon_high: clip }) }),
  rule<number | null>("algorithm.dualClip", { to: (bound) => ({ delta: bound }) }),
  // By default TRL multiplies the KL of a token by its ratio, which also changes the gradient where the ratio is 1.
  rule("algorithm.klCoef", { to: (coef) => ({ beta: coef, use_bias_correction_kl: false }) }),
  rule<string>("algorithm.klEstimator", {
    allowed: {
      says: "k3, or any while algorithm.klCoef is 0",
      is: (name, settings) =>
        name === "k3" || (algorithmOf(settings) as { klCoef?: number }).klCoef === 0,
    },
    differs: (_, settings) =>
      (algorithmOf(settings) as { klCoef?: number }).klCoef === 0
        ? null
        : "TRL limits neither k3, which agentrl limits to 10, nor its exponent",
  }),
  rule("algorithm.klReward", {
    allowed: { says: "absent: GRPOTrainer has KL in the loss alone", is: () => false },
  }),
  rule<number>("algorithm.entropyCoef", {
    to: (coef) => ({ entropy_coef: coef }),
    differs: (coef) =>
      coef > 0
        ? "the entropy is the mean over the tokens of each forward pass, whatever algorithm.lossAggregation says"
        : null,
  }),
  rule<Scheduled>("algorithm.optimizer.learningRate", {
    to: (_, { settings }) => ({ learning_rate: Math.max(...learningRates(settings)) }),
    file: EXPERIMENT_FILE,
  }),
  rule("algorithm.optimizer.beta1", { to: (beta) => ({ adam_beta1: beta }) }),
  rule("algorithm.optimizer.beta2", { to: (beta) => ({ adam_beta2: beta }) }),
  rule("algorithm.optimizer.epsilon", { to: (epsilon) => ({ adam_epsilon: epsilon }) }),
  rule("algorithm.optimizer.weightDecay", { to: (decay) => ({ weight_decay: decay }) }),
  rule("algorithm.optimizer.gradClipNorm", { to: (norm) => ({ max_grad_norm: norm }) }),
  rule("sampling", { file: EXPERIMENT_FILE }),
  rule<number>("sampling.temperature", {
    allowed: { says: "above 0", is: (temperature) => temperature > 0 },
    to: (temperature) => ({ temperature }),
    file: EXPERIMENT_FILE,
  }),
  rule("evaluation.sampling", { file: EXPERIMENT_FILE }),
  rule<number>("evaluation.samplesPerTask", {
    to: (count) => ({ num_generations_eval: count, per_device_eval_batch_size: 8 * count }),
  }),
  rule<number>("evaluation.during.every", {
    to: (every, { settings }) => ({
      eval_strategy: "steps",
      eval_steps: every * updatesPerStep(settings),
    }),
  }),
  rule<number>("checkpoints.every", {
    to: (every, { settings }) => ({
      save_strategy: "steps",
      save_steps: every * updatesPerStep(settings),
    }),
  }),
  rule("checkpoints.keep", { to: (keep) => ({ save_total_limit: keep }) }),
];

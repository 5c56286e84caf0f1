import type { KlRewardSettings } from "../algorithms/kl-reward.ts";
import type { Scheduled } from "../base/schedule.ts";
import { targetModules } from "../models/lora/target-modules.ts";
import type { Sampling } from "../rollout/sampling.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { playedRules } from "./played-rules.ts";
import { type Rule, rule } from "./rule.ts";
import {
  algorithmOf,
  epsilonDiffers,
  fixedLengthRule,
  grpoOfWhole,
  only,
  plainAdvantage,
  plainAdvantageKeys,
  plainSchedule,
  sampled,
  scaleRule,
  stepRules,
} from "./shared-rules.ts";

const ALGORITHM = "trainer.algorithm";
const POLICY = "trainer.policy";
const BY_STD = `${ALGORITHM}.grpo_norm_by_std`;

/** What the keys of a recipe are in SkyRL 0.4.0. */
export const skyrlRules: readonly Rule[] = [
  ...playedRules,
  rule("seed", { to: (seed) => ({ "trainer.seed": seed }) }),
  rule("policy.from", {
    to: (_, { model }) => ({ [`${POLICY}.model.path`]: model, "trainer.ref.model.path": model }),
  }),
  rule<{ rank: number; alpha: number }>("policy.lora", {
    to: ({ rank, alpha }) => ({
      [`${POLICY}.model.lora.rank`]: rank,
      [`${POLICY}.model.lora.alpha`]: alpha,
    }),
  }),
  rule("policy.lora.rslora", { allowed: only(false) }),
  rule<readonly string[]>("policy.lora.targets", {
    allowed: {
      says: `all linear layers: ${targetModules.join(", ")}`,
      is: (targets) => targetModules.every((each) => targets.includes(each)),
    },
    to: () => ({ [`${POLICY}.model.lora.target_modules`]: "all-linear" }),
  }),
  // A trajectory of SkyRL's is one sequence.
  rule("environment.reissue", { allowed: only(false) }),
  // GAE of SkyRL takes what the environment wrote for time steps, and trains no value there.
  rule("algorithm.name", {
    allowed: grpoOfWhole,
    to: () => ({ [`${ALGORITHM}.advantage_estimator`]: "grpo" }),
  }),
  rule("algorithm.advantage", {
    allowed: plainAdvantage,
    differs: epsilonDiffers,
    to: plainAdvantageKeys(`${ALGORITHM}.advantage_estimator`, BY_STD),
  }),
  scaleRule(BY_STD),
  ...stepRules({
    steps: "trainer.max_training_steps",
    epochs: "trainer.epochs",
    prompts: "trainer.train_batch_size",
    minibatch: "trainer.policy_mini_batch_size",
    evenly: true,
  }),
  rule("algorithm.groupSize", { to: (size) => ({ "generator.n_samples_per_prompt": size }) }),
  rule("algorithm.epochs", { to: (epochs) => ({ "trainer.update_epochs_per_batch": epochs }) }),
  rule<string>("algorithm.lossAggregation", {
    to: (mode) => ({
      [`${ALGORITHM}.loss_reduction`]: {
        "token-mean": "token_mean",
        "sequence-mean": "sequence_mean",
        "fixed-length-mean": "seq_mean_token_sum_norm",
      }[mode],
    }),
  }),
  fixedLengthRule(`${ALGORITHM}.max_seq_len`),
  rule("algorithm.oldLogprobs", {
    differs: (which) =>
      which === "sampled"
        ? "SkyRL computes old log-probabilities again, with the weights that sampled"
        : null,
  }),
  rule("algorithm.importanceSamplingCap", {
    to: (cap) => ({
      [`${ALGORITHM}.off_policy_correction.tis_ratio_type`]: "token",
      [`${ALGORITHM}.off_policy_correction.token_tis_ratio_clip_high`]: cap,
    }),
  }),
  rule("algorithm.clipLow", { to: (clip) => ({ [`${ALGORITHM}.eps_clip_low`]: clip }) }),
  rule("algorithm.clipHigh", { to: (clip) => ({ [`${ALGORITHM}.eps_clip_high`]: clip }) }),
  rule<number | null>("algorithm.dualClip", {
    to: (bound) => ({
      [`${ALGORITHM}.policy_loss_type`]: bound === null ? "regular" : "dual_clip",
      [`${ALGORITHM}.clip_ratio_c`]: bound ?? undefined,
    }),
  }),
  rule<number>("algorithm.klCoef", {
    to: (coef) => ({
      [`${ALGORITHM}.use_kl_loss`]: coef > 0,
      [`${ALGORITHM}.kl_loss_coef`]: coef > 0 ? coef : undefined,
    }),
  }),
  rule<string>("algorithm.klEstimator", {
    to: (name, { settings }) =>
      hasKlLoss(settings) ? { [`${ALGORITHM}.kl_estimator_type`]: name } : {},
  }),
  rule<KlRewardSettings>("algorithm.klReward", {
    allowed: {
      says: "absent while algorithm.klCoef is above 0: SkyRL has one KL term",
      is: (_, settings) => !hasKlLoss(settings),
    },
    to: ({ coef, target, horizon }) => ({
      [`${ALGORITHM}.use_kl_in_reward`]: true,
      [`${ALGORITHM}.kl_estimator_type`]: "k1",
      [`${ALGORITHM}.kl_loss_coef`]: coef,
      [`${ALGORITHM}.kl_ctrl.type`]: target === undefined ? "fixed" : "adaptive",
      [`${ALGORITHM}.kl_ctrl.kl_target`]: target,
      [`${ALGORITHM}.kl_ctrl.horizon`]: Math.round(horizon),
    }),
  }),
  rule<number>("algorithm.entropyCoef", {
    to: (coef) => ({
      [`${ALGORITHM}.use_entropy_loss`]: coef > 0,
      [`${ALGORITHM}.entropy_loss_coef`]: coef > 0 ? coef : undefined,
    }),
  }),
  rule<Scheduled>("algorithm.optimizer.learningRate", {
    allowed: {
      says: "a number, or a schedule constant",
      is: (rate, settings) => plainSchedule(rate, settings)?.kind === "constant",
    },
    to: (rate, { settings }) => {
      const { value, warmup } = plainSchedule(rate, settings) ?? {};
      return {
        [`${POLICY}.optimizer_config.lr`]: value,
        [`${POLICY}.optimizer_config.scheduler`]: "constant_with_warmup",
        [`${POLICY}.optimizer_config.num_warmup_steps`]: warmup,
      };
    },
    differs: (rate, settings) =>
      (plainSchedule(rate, settings)?.warmup ?? 0) > 0 ? "the warm-up begins at 0" : null,
  }),
  ...["beta1", "beta2"].map((name) =>
    rule(`algorithm.optimizer.${name}`, {
      to: (_, { settings }) => {
        const { beta1, beta2 } = algorithmOf(settings).optimizer;
        return { [`${POLICY}.optimizer_config.adam_betas`]: [beta1, beta2] };
      },
    }),
  ),
  rule("algorithm.optimizer.epsilon", { allowed: only(1e-8) }),
  rule("algorithm.optimizer.weightDecay", {
    to: (decay) => ({ [`${POLICY}.optimizer_config.weight_decay`]: decay }),
  }),
  rule("algorithm.optimizer.gradClipNorm", {
    to: (norm) => ({ [`${POLICY}.optimizer_config.max_grad_norm`]: norm }),
  }),
  rule<Sampling>("sampling", { to: (sampling) => sampled("generator.sampling_params", sampling) }),
  rule<Sampling>("evaluation.sampling", {
    to: (sampling) => sampled("generator.eval_sampling_params", sampling),
  }),
  rule("evaluation.samplesPerTask", {
    to: (count) => ({ "generator.eval_n_samples_per_prompt": count }),
  }),
  rule("evaluation.during.every", { to: (every) => ({ "trainer.eval_interval": every }) }),
  rule("checkpoints.every", { to: (every) => ({ "trainer.ckpt_interval": every }) }),
  rule<number | null>("checkpoints.keep", {
    to: (keep) => ({ "trainer.max_ckpts_to_keep": keep ?? -1 }),
  }),
];

function hasKlLoss(settings: Settings): boolean {
  return (algorithmOf(settings) as { klCoef?: number }).klCoef !== 0;
}

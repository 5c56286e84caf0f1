import type { CriticSettings } from "../algorithms/critic.ts";
import type { KlRewardSettings } from "../algorithms/kl-reward.ts";
import type { OptimizerSettings } from "../algorithms/optimizer-settings.ts";
import type { Scheduled } from "../base/schedule.ts";
import { targetModules } from "../models/lora/target-modules.ts";
import type { Sampling } from "../rollout/sampling.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { ppoRules, scaledCriticOptimizer } from "./critic-rules.ts";
import { playedRules } from "./played-rules.ts";
import { reportersRule } from "./reporters-rule.ts";
import { type Rule, rule, type TrainerKeys } from "./rule.ts";
import {
  algorithmOf,
  epsilonDiffers,
  fixedLengthRule,
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

/** PyTorch's default, which SkyRL has no key for. */
const EPSILON = 1e-8;

/** SkyRL's schedules: constant, or a cosine that ends at 0; at most this share of the first rate counts as 0. */
const NEARLY_NOTHING = 0.01;

function isSkyrlRate(rate: Scheduled, settings: Settings): boolean {
  const plain = plainSchedule(rate, settings);
  return plain !== null && (plain.kind === "constant" || plain.end <= NEARLY_NOTHING);
}

/** AdamW's numbers for one of SkyRL's optimizers. */
function optimizerKeys(
  place: string,
  { learningRate, beta1, beta2, weightDecay, gradClipNorm }: OptimizerSettings,
  settings: Settings,
): TrainerKeys {
  const { kind, value, warmup } = plainSchedule(learningRate, settings) ?? {};
  return {
    [`${place}.optimizer_config.lr`]: value,
    [`${place}.optimizer_config.scheduler`]: kind === "cosine" ? kind : "constant_with_warmup",
    [`${place}.optimizer_config.num_warmup_steps`]: warmup,
    [`${place}.optimizer_config.adam_betas`]: [beta1, beta2],
    [`${place}.optimizer_config.weight_decay`]: weightDecay,
    [`${place}.optimizer_config.max_grad_norm`]: gradClipNorm,
  };
}

/** Some of the policy's. */
const ofPolicy =
  (...keys: readonly string[]): NonNullable<Rule["to"]> =>
  (_, { settings }) => {
    const all = optimizerKeys(POLICY, algorithmOf(settings).optimizer, settings);
    const places = keys.map((key) => `${POLICY}.optimizer_config.${key}`);
    return Object.fromEntries(places.map((place) => [place, all[place]]));
  };

/** What the keys of a recipe are in SkyRL 0.4.0. */
export const skyrlRules: readonly Rule[] = [
  ...playedRules,
  reportersRule({
    known: ["wandb", "mlflow", "tensorboard"],
    most: 1,
    to: ([name = "console"]) => ({ "trainer.logger": name }),
  }),
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
  ...ppoRules(
    `${ALGORITHM}.advantage_estimator`,
    "the critic learns, and advantages are whitened, at the policy's tokens alone",
  ),
  // GAE of SkyRL has the environment's tokens as steps, whose values nobody trains: with 1 and 1 they cancel.
  rule("algorithm.gamma", { allowed: only(1), to: (gamma) => ({ [`${ALGORITHM}.gamma`]: gamma }) }),
  rule("algorithm.lambda", {
    allowed: only(1),
    to: (lambda) => ({ [`${ALGORITHM}.lambd`]: lambda }),
  }),
  rule<CriticSettings>("algorithm.critic", {
    allowed: {
      says: "trunk own, warmup 0, and an optimizer as algorithm.optimizer may be",
      is: (critic, settings) => {
        const { epsilon, learningRate } = scaledCriticOptimizer(critic, settings);
        const isPlain = epsilon === EPSILON && isSkyrlRate(learningRate, settings);
        return critic.trunk === "own" && critic.warmup === 0 && isPlain;
      },
    },
    differs: () => "the critic's loss is a mean over sequences",
    to: (critic, { settings, model, gpus }) => {
      const optimizer = scaledCriticOptimizer(critic, settings);
      return {
        "trainer.critic.model.path": model,
        "trainer.placement.critic_num_gpus_per_node": gpus,
        [`${ALGORITHM}.value_clip`]: critic.clip,
        ...optimizerKeys("trainer.critic", optimizer, settings),
      };
    },
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
    minibatch: ["trainer.policy_mini_batch_size", "trainer.critic_mini_batch_size"],
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
      says: "a number, or a schedule constant, or cosine down to 1% or less",
      is: isSkyrlRate,
    },
    differs: (rate, settings) => {
      const { kind, warmup = 0 } = plainSchedule(rate, settings) ?? {};
      const parts = [
        ...(warmup > 0 ? ["the warm-up begins at 0"] : []),
        ...(kind === "cosine" ? ["the cosine ends at 0"] : []),
      ];
      return parts.length === 0 ? null : parts.join("; ");
    },
    to: ofPolicy("lr", "scheduler", "num_warmup_steps"),
  }),
  rule("algorithm.optimizer.beta1", { to: ofPolicy("adam_betas") }),
  rule("algorithm.optimizer.beta2", { to: ofPolicy("adam_betas") }),
  rule("algorithm.optimizer.epsilon", { allowed: only(EPSILON) }),
  rule("algorithm.optimizer.weightDecay", { to: ofPolicy("weight_decay") }),
  rule("algorithm.optimizer.gradClipNorm", { to: ofPolicy("max_grad_norm") }),
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

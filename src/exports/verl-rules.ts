import { isDeepStrictEqual } from "node:util";
import type { CriticSettings } from "../algorithms/critic.ts";
import type { KlRewardSettings } from "../algorithms/kl-reward.ts";
import type { OptimizerSettings } from "../algorithms/optimizer-settings.ts";
import type { Scheduled } from "../base/schedule.ts";
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
  isOfWhole,
  type NamedAdvantage,
  only,
  plainAdvantage,
  plainAdvantageKeys,
  plainSchedule,
  sampled,
  scaleRule,
  stepRules,
  updatesPerStep,
} from "./shared-rules.ts";

const ACTOR = "actor_rollout_ref.actor";
const ROLLOUT = "actor_rollout_ref.rollout";
const MODEL = "actor_rollout_ref.model";

const rateRule: Pick<Rule<Scheduled>, "allowed" | "differs"> = {
  allowed: {
    says: "a number, or a schedule constant or cosine over the whole run",
    is: (rate, settings) => plainSchedule(rate, settings) !== null,
  },
  differs: (rate, settings) => {
    const { warmup = 0 } = plainSchedule(rate, settings) ?? {};
    if (warmup === 0) return null;
    return "verl's schedule moves once a training step, and its warm-up begins at 0";
  },
};

/** A learning rate for one of verl's optimizers, which moves it once a training step. */
function rateKeys(optimizer: string, rate: Scheduled, settings: Settings): TrainerKeys {
  const { kind, value, end, warmup } = plainSchedule(rate, settings) ?? {};
  return {
    [`${optimizer}.lr`]: value,
    [`${optimizer}.lr_scheduler_type`]: kind,
    [`${optimizer}.lr_warmup_steps`]: Math.ceil((warmup ?? 0) / updatesPerStep(settings)),
    [`${optimizer}.min_lr_ratio`]: kind === "cosine" ? end : undefined,
  };
}

/** AdamW's numbers, for one of verl's optimizers. */
function adamKeys(
  optimizer: string,
  { beta1, beta2, epsilon, weightDecay }: OptimizerSettings,
): TrainerKeys {
  return {
    [`${optimizer}.betas`]: [beta1, beta2],
    [`${optimizer}.override_optimizer_config`]: { eps: epsilon },
    [`${optimizer}.weight_decay`]: weightDecay,
  };
}

/** One of those keys. */
const actorAdam =
  (key: string): NonNullable<Rule["to"]> =>
  (_, { settings }) => {
    const place = `${ACTOR}.optim.${key}`;
    return { [place]: adamKeys(`${ACTOR}.optim`, algorithmOf(settings).optimizer)[place] };
  };

const BY_STD = "algorithm.norm_adv_by_std_in_grpo";
const plainKeys = plainAdvantageKeys("algorithm.adv_estimator", BY_STD);

const verlAdvantage: Omit<Rule<NamedAdvantage & ReinforcePp>, "from"> = {
  allowed: {
    says: `${plainAdvantage.says}; or reinforce-pp with baseline and its epsilon of 1e-8`,
    is: (advantage, settings) => {
      if (!isReinforcePp(advantage)) return plainAdvantage.is(advantage, settings);
      const { name: _, epsilon: __, baseline: ___, ...rest } = advantage;
      return isOfWhole(rest, settings);
    },
  },
  differs: (advantage) => (isReinforcePp(advantage) ? null : epsilonDiffers(advantage)),
  to: (advantage) => {
    if (!isReinforcePp(advantage)) return plainKeys(advantage);
    const isPlain = (advantage.baseline ?? "none") === "none";
    const name = isPlain ? "reinforce_plus_plus" : "reinforce_plus_plus_baseline";
    return { "algorithm.adv_estimator": name };
  },
};

interface ReinforcePp {
  baseline?: string;
}

/** The reward, or its distance from the group's mean, whitened over the batch's tokens. */
function isReinforcePp(advantage: NamedAdvantage): boolean {
  return advantage.name === "reinforce-pp" && (advantage.epsilon ?? 1e-8) === 1e-8;
}

/** What the keys of a recipe are in verl 0.9.1. */
export const verlRules: readonly Rule[] = [
  ...playedRules,
  reportersRule({
    known: ["wandb", "mlflow", "tensorboard", "trackio"],
    to: (names) => ({ "trainer.logger": ["console", ...names] }),
  }),
  rule<number>("seed", {
    to: (seed) => ({
      "data.seed": seed,
      [`${ROLLOUT}.seed`]: seed,
      [`${ACTOR}.data_loader_seed`]: seed,
      [`${ACTOR}.fsdp_config.seed`]: seed,
    }),
  }),
  rule("policy.from", { to: (_, { model }) => ({ [`${MODEL}.path`]: model }) }),
  rule<{ rank: number; alpha: number; targets: string[] }>("policy.lora", {
    to: ({ rank, alpha, targets }) => ({
      [`${MODEL}.lora_rank`]: rank,
      [`${MODEL}.lora_alpha`]: alpha,
      [`${MODEL}.target_modules`]: targets,
    }),
  }),
  rule("policy.lora.rslora", { allowed: only(false) }),
  ...ppoRules(
    "algorithm.adv_estimator",
    "only the policy's tokens are steps: those of observations have no place in verl's advantages",
  ),
  rule("algorithm.advantage", verlAdvantage),
  scaleRule(BY_STD),
  ...stepRules({
    steps: "trainer.total_training_steps",
    epochs: "trainer.total_epochs",
    prompts: "data.train_batch_size",
    minibatch: [`${ACTOR}.ppo_mini_batch_size`],
    evenly: false,
  }),
  rule("algorithm.groupSize", { to: (size) => ({ [`${ROLLOUT}.n`]: size }) }),
  rule("algorithm.epochs", { to: (epochs) => ({ [`${ACTOR}.ppo_epochs`]: epochs }) }),
  rule<string>("algorithm.lossAggregation", {
    to: (mode) => ({
      [`${ACTOR}.loss_agg_mode`]: {
        "token-mean": "token-mean",
        "sequence-mean": "seq-mean-token-mean",
        "fixed-length-mean": "seq-mean-token-sum-norm",
      }[mode],
    }),
  }),
  fixedLengthRule(`${ACTOR}.loss_scale_factor`),
  rule("algorithm.oldLogprobs", {
    to: (which) => ({ "algorithm.rollout_correction.bypass_mode": which === "sampled" }),
  }),
  rule("algorithm.importanceSamplingCap", {
    to: (cap) => ({
      "algorithm.rollout_correction.rollout_is": "token",
      "algorithm.rollout_correction.rollout_is_threshold": cap,
    }),
  }),
  rule("algorithm.clipLow", {
    to: (clip) => ({ [`${ACTOR}.clip_ratio_low`]: clip, [`${ACTOR}.clip_ratio`]: clip }),
  }),
  rule("algorithm.clipHigh", { to: (clip) => ({ [`${ACTOR}.clip_ratio_high`]: clip }) }),
  // verl always has a bound for negative advantages; this one is never reached.
  rule<number | null>("algorithm.dualClip", {
    to: (bound) => ({ [`${ACTOR}.clip_ratio_c`]: bound ?? 1_000_000 }),
  }),
  rule<number>("algorithm.klCoef", {
    to: (coef) => ({
      [`${ACTOR}.use_kl_loss`]: coef > 0,
      [`${ACTOR}.kl_loss_coef`]: coef > 0 ? coef : undefined,
    }),
  }),
  rule<string>("algorithm.klEstimator", {
    to: (name) => ({ [`${ACTOR}.kl_loss_type`]: name === "k3" ? "low_var_kl" : name }),
  }),
  rule<KlRewardSettings>("algorithm.klReward", {
    to: ({ coef, target, horizon }) => ({
      "algorithm.use_kl_in_reward": true,
      "algorithm.kl_penalty": "kl",
      "algorithm.kl_ctrl.kl_coef": coef,
      "algorithm.kl_ctrl.type": target === undefined ? "fixed" : "adaptive",
      "algorithm.kl_ctrl.target_kl": target,
      "algorithm.kl_ctrl.horizon": Math.round(horizon),
    }),
  }),
  rule("algorithm.entropyCoef", { to: (coef) => ({ [`${ACTOR}.entropy_coeff`]: coef }) }),
  rule("algorithm.gamma", { to: (gamma) => ({ "algorithm.gamma": gamma }) }),
  rule("algorithm.lambda", { to: (lambda) => ({ "algorithm.lam": lambda }) }),
  rule<CriticSettings>("algorithm.critic", {
    allowed: {
      says: "trunk own, clip a number, and the policy's optimizer but for the learning rate",
      is: isVerlCritic,
    },
    to: ({ clip, warmup, optimizer }, { settings, model }) => ({
      "critic.enable": true,
      "critic.model.path": model,
      "critic.cliprange_value": clip,
      "trainer.critic_warmup": warmup,
      ...rateKeys(
        "critic.optim",
        scaledCriticOptimizer({ optimizer }, settings).learningRate,
        settings,
      ),
      ...adamKeys("critic.optim", algorithmOf(settings).optimizer),
      "critic.grad_clip": algorithmOf(settings).optimizer.gradClipNorm,
    }),
  }),
  rule<Scheduled>("algorithm.optimizer.learningRate", {
    ...rateRule,
    to: (rate, { settings }) => rateKeys(`${ACTOR}.optim`, rate, settings),
  }),
  rule("algorithm.optimizer.beta1", { to: actorAdam("betas") }),
  rule("algorithm.optimizer.beta2", { to: actorAdam("betas") }),
  rule("algorithm.optimizer.epsilon", { to: actorAdam("override_optimizer_config") }),
  rule("algorithm.optimizer.weightDecay", { to: actorAdam("weight_decay") }),
  rule<number>("algorithm.optimizer.gradClipNorm", {
    to: (norm) => ({ [`${ACTOR}.grad_clip`]: norm, [`${ACTOR}.optim.clip_grad`]: norm }),
  }),
  rule<Sampling>("sampling", {
    to: (sampling) => sampled(ROLLOUT, sampling),
    differs: ({ topP, topK }, settings) =>
      (topP < 1 || topK > 0) && algorithmOf(settings).oldLogprobs === "sampled"
        ? "sampled log-probabilities are of the tokens that top-k and top-p left, not of all"
        : null,
  }),
  ...["sampling.minP", "evaluation.sampling.minP"].map((key) => rule(key, { allowed: only(0) })),
  rule<Sampling>("evaluation.sampling", {
    to: (sampling) => ({
      ...sampled(`${ROLLOUT}.val_kwargs`, sampling),
      [`${ROLLOUT}.val_kwargs.do_sample`]: sampling.temperature > 0,
    }),
  }),
  rule("evaluation.samplesPerTask", { to: (n) => ({ [`${ROLLOUT}.val_kwargs.n`]: n }) }),
  rule("evaluation.during.every", { to: (every) => ({ "trainer.test_freq": every }) }),
  rule("checkpoints.every", { to: (every) => ({ "trainer.save_freq": every }) }),
  rule("checkpoints.keep", { to: (keep) => ({ "trainer.max_actor_ckpt_to_keep": keep }) }),
];

function isVerlCritic(critic: CriticSettings, settings: Settings): boolean {
  const policys = algorithmOf(settings).optimizer;
  const { learningRate, ...others } = scaledCriticOptimizer(critic, settings);
  const isPolicys = isDeepStrictEqual({ ...policys, ...others }, policys);
  const isPlain = plainSchedule(learningRate, settings) !== null;
  return critic.trunk === "own" && critic.clip !== null && isPlain && isPolicys;
}

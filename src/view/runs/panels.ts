/** Exact match while training; read under the name that a run gives it. */
export const EXACT_MATCH = "reward/exact-match";

/** A panel of a run's page: one metric by step. */
export interface PanelSpec {
  title: string;
  /** Unit. */
  unit: string;
  /** Names of the metric; the first that a run has is used. */
  metrics: readonly string[];
  /** Held-out metric whose evaluations are drawn as points. */
  heldOut?: "em" | "f1";
  /** A share from 0 to 1. */
  share?: true;
}

/** Panels under one heading. */
export interface PanelGroup {
  title: string;
  panels: readonly PanelSpec[];
}

function share(title: string, unit: string, ...metrics: string[]): PanelSpec {
  return { title, unit, metrics, share: true };
}

function amount(title: string, unit: string, ...metrics: string[]): PanelSpec {
  return { title, unit, metrics };
}

/** The panels of a run by question, if the run has the metrics. Its other metrics follow. */
export const PANEL_GROUPS: readonly PanelGroup[] = [
  {
    title: "Does it get better?",
    panels: [
      amount("Reward", "mean of a step's rollouts", "rollout/reward_mean"),
      { ...share("EM", "while training", EXACT_MATCH, "validation/em"), heldOut: "em" },
      share(
        "Groups without reward spread (no signal)",
        "share of groups",
        "rollout/zero_variance_share",
      ),
      amount("Reward deviation", "within groups", "rollout/reward_std"),
      amount("Loss", "nats per token", "losses/sft"),
      amount("Loss on held-out samples", "nats per token", "validation/loss"),
      amount("Preference loss", "per pair", "losses/preference"),
      amount("Preference loss, held out", "per pair", "validation/losses/preference"),
      share("Right preferences", "share of pairs", "rewards/accuracy"),
      share("Right preferences, held out", "share of pairs", "validation/rewards/accuracy"),
      amount("Margin", "implicit reward, chosen − rejected", "rewards/margin"),
    ],
  },
  {
    title: "How does it act?",
    panels: [
      amount("Searches", "per rollout", "rollout/searches"),
      share("Repeated queries", "share of searches", "rollout/duplicate_query_share"),
      share("Answered after a search", "share of rollouts", "rollout/answer_after_search_share"),
      amount("Messages", "per rollout", "rollout/turns"),
      amount("Length", "tokens written per rollout", "rollout/completion_tokens"),
      share("Answered", "share of rollouts", "rollout/answer_rate"),
      share("Well-formed", "share of rollouts", "rollout/format_rate"),
      share("Truncated", "share of rollouts", "rollout/truncated_share"),
      share("Errors", "share of rollouts", "rollout/error_share"),
      share("Not scored", "share of rollouts", "rollout/unscored_share"),
    ],
  },
  {
    title: "Is it stable?",
    panels: [
      amount("Entropy", "nats per token", "rollout/entropy", "losses/entropy"),
      amount("KL to the start", "nats per token", "losses/kl"),
      amount("KL of an update", "nats per token", "losses/approx_kl"),
      amount("Mismatch KL", "sampler against trainer, nats per token", "mismatch/kl"),
      share("Clipped", "share of tokens", "losses/clip_fraction"),
      amount("Policy loss", "per token", "losses/policy"),
      amount("Gradient norm", "before clipping", "optimizer/grad_norm"),
      amount("Learning rate", "of the last update", "optimizer/learning_rate"),
    ],
  },
  {
    title: "How fast is it?",
    panels: [
      amount("Speed", "tokens per second", "timing/tokens_per_second"),
      amount("Step", "seconds", "timing/seconds"),
    ],
  },
];

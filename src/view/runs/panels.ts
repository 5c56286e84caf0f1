import {
  fixed,
  formatLoss,
  formatMean,
  formatRate,
  formatScore,
  formatTiny,
  type NumberFormat,
} from "../../base/format.ts";

/** Exact match while training; read under the name that a run gives it. */
export const EXACT_MATCH = "reward/exact-match";

/** Tokens sampled and trained per second; not among the metrics of a log, because it differs between two runs of one seed. */
export const TOKENS_PER_SECOND = "timing/tokens_per_second";

/** How the live view and the lines of a training show a metric. */
export interface LiveMetric {
  label: string;
  format: NumberFormat;
  /** Order: a small terminal leaves out the last ones. */
  rank: number;
  /** Whether training should raise it. */
  isGoal?: true;
}

/** A metric of training by step, as pages draw it. */
export interface PanelSpec {
  title: string;
  /** Unit, or what it is of. */
  unit: string;
  /** Names of the metric; the first that a run has is used. */
  metrics: readonly string[];
  /** Held-out metric whose evaluations are drawn as points. */
  heldOut?: "em" | "f1";
  /** A share from 0 to 1. */
  share?: true;
  /** Absent: only in pages. */
  live?: LiveMetric;
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

function live(
  spec: PanelSpec,
  rank: number,
  label: string,
  format: NumberFormat,
  isGoal?: true,
): PanelSpec {
  return { ...spec, live: { rank, label, format, isGoal } };
}

const whole = fixed(0);

/** The panels of a run by question, if the run has the metrics. Its other metrics follow. */
export const PANEL_GROUPS: readonly PanelGroup[] = [
  {
    title: "Does it get better?",
    panels: [
      live(
        amount("Reward", "mean of a step's rollouts", "rollout/reward_mean"),
        1,
        "reward",
        formatScore,
        true,
      ),
      {
        ...live(
          share("EM", "share of right answers while training", EXACT_MATCH, "validation/em"),
          2,
          "EM",
          formatScore,
          true,
        ),
        heldOut: "em",
      },
      live(
        share(
          "Groups without reward spread (no signal)",
          "share of questions whose rollouts all earn the same: teach nothing",
          "rollout/zero_variance_share",
        ),
        12,
        "flat groups",
        formatMean,
      ),
      amount("Reward deviation", "within groups", "rollout/reward_std"),
      live(amount("Loss", "nats per token", "losses/sft"), 3, "loss", formatLoss),
      live(
        amount(
          "Loss on held-out samples",
          "of held-out samples, nats per token",
          "validation/loss",
        ),
        6,
        "held-out loss",
        formatLoss,
      ),
      live(amount("Preference loss", "per pair", "losses/preference"), 4, "pair loss", formatLoss),
      amount("Preference loss, held out", "per pair", "validation/losses/preference"),
      share("Right preferences", "share of pairs", "rewards/accuracy"),
      share("Right preferences, held out", "share of pairs", "validation/rewards/accuracy"),
      live(
        amount("Margin", "implicit reward, chosen − rejected", "rewards/margin"),
        5,
        "margin",
        formatLoss,
        true,
      ),
    ],
  },
  {
    title: "How does it act?",
    panels: [
      live(amount("Searches", "per rollout", "rollout/searches"), 10, "searches", formatMean),
      live(
        share(
          "Repeated queries",
          "share of queries that a rollout has asked before",
          "rollout/duplicate_query_share",
        ),
        11,
        "duplicates",
        formatMean,
      ),
      share("Answered after a search", "share of rollouts", "rollout/answer_after_search_share"),
      amount("Tool calls", "per rollout, searches among them", "rollout/tool_calls"),
      share("Use of tools", "share of rollouts with a call", "rollout/tool_use_share"),
      share("Failed calls", "share of calls", "rollout/failed_call_share"),
      amount("Messages", "per rollout", "rollout/turns"),
      live(
        amount("Length", "tokens written per rollout", "rollout/completion_tokens"),
        9,
        "length",
        formatRate,
      ),
      live(
        share("Answered", "share of rollouts with an answer", "rollout/answer_rate"),
        13,
        "answered",
        formatMean,
      ),
      share("Well-formed", "share of rollouts", "rollout/format_rate"),
      share("Truncated", "share of rollouts", "rollout/truncated_share"),
      share("Errors", "share of rollouts", "rollout/error_share"),
      share("Not scored", "share of rollouts", "rollout/unscored_share"),
    ],
  },
  {
    title: "Is it stable?",
    panels: [
      live(
        amount(
          "Entropy",
          "nats per token; towards 0 the policy no longer tries",
          "rollout/entropy",
          "losses/entropy",
        ),
        7,
        "entropy",
        formatScore,
      ),
      live(
        amount(
          "KL to the start",
          "from the policy that training began with, nats per token",
          "losses/kl",
        ),
        7,
        "KL",
        formatLoss,
      ),
      amount("KL of an update", "nats per token", "losses/approx_kl"),
      live(
        amount(
          "Mismatch KL",
          "sampler against trainer, nats per token: should stay near 0",
          "mismatch/kl",
        ),
        8,
        "mismatch KL",
        formatTiny,
      ),
      share("Clipped", "share of tokens", "losses/clip_fraction"),
      amount("Policy loss", "per token", "losses/policy"),
      amount("Gradient norm", "before clipping", "optimizer/grad_norm"),
      amount("Learning rate", "of the last update", "optimizer/learning_rate"),
    ],
  },
  {
    title: "How fast is it?",
    panels: [
      live(
        amount("Speed", "tokens sampled and trained per second", TOKENS_PER_SECOND),
        14,
        "tokens/s",
        whole,
      ),
      amount("Step", "seconds", "timing/seconds"),
    ],
  },
];

/** The metrics of the live view, the most important first. */
export const LIVE_METRICS = PANEL_GROUPS.flatMap(({ panels }) => panels)
  .flatMap(({ live: shown, unit, metrics, share: isShare }) =>
    shown === undefined ? [] : [{ ...shown, means: unit, metrics, isShare }],
  )
  .sort((a, b) => a.rank - b.rank);

import type { CliContext } from "./command.ts";
import { eventLine } from "./event-line.ts";
import { startProgress, type Progress } from "./progress.ts";
import { rewardCheckLine } from "./reward-check-text.ts";
import type { TrainNews, TrainWatch } from "./train-news.ts";

/** Columns of the step table: heading, metric, and how it is written. */
const COLUMNS: readonly (readonly [string, string, (value: number) => string])[] = [
  ["reward", "rollout/reward_mean", (v) => v.toFixed(3)],
  ["EM", "reward/exact-match", (v) => v.toFixed(3)],
  ["searches", "rollout/searches", (v) => v.toFixed(2)],
  ["answered", "rollout/answer_rate", (v) => v.toFixed(2)],
  ["entropy", "rollout/entropy", (v) => v.toFixed(3)],
  ["KL", "losses/kl", (v) => v.toFixed(4)],
  ["flat groups", "rollout/zero_variance_share", (v) => v.toFixed(2)],
];

/** A training as lines that stay, a line per step: for pipes, logs and terminals too small for the live view. */
export function trainLines(context: CliContext): TrainWatch {
  let progress: Progress | null = null;
  let rows = 0;
  let stage = "";
  const stop = (): void => {
    progress?.stop();
    progress = null;
  };
  const news: TrainNews = {
    onRewardCheck: (check) => {
      context.note(rewardCheckNote(check));
    },
    onEvaluationStart: (name, total) => {
      stop();
      progress = startProgress(context, { label: `evaluating ${name}`, total, unit: "questions" });
    },
    onEvaluationProgress: ({ done, em }) => {
      progress?.update(done, `EM ${em.toFixed(3)}`);
    },
    onEvaluation: (name, { metrics, n }) => {
      stop();
      const when = name === "before" || name === "after" ? `${name} training` : name;
      context.note(`${when}: EM ${metrics.em.toFixed(3)} on ${n} held-out questions`);
    },
    onStage: ({ number, name, do: kind }, total, kept) => {
      stop();
      rows = 0;
      stage = name;
      const called = name === kind ? name : `${name} (${kind})`;
      context.note(`stage ${number}/${total}: ${called}${kept ? ", done before" : ""}`);
    },
    onStageProgress: ({ done, total, note }) => {
      const unit = total === null ? "questions" : "steps";
      progress ??= startProgress(context, { label: stage, total: total ?? 0, unit });
      progress.update(done, note);
    },
    onBatch: () => undefined,
    onStep: (step) => {
      const [heads, cells] = alignedRow(step);
      if (rows === 0) {
        stop();
        context.note(heads);
      }
      rows += 1;
      // After an evaluation on the way the bar is another.
      const bar = { label: "training", total: step.totalSteps, unit: "steps" };
      progress ??= startProgress(context, bar);
      context.note(cells);
      progress.update(step.step);
    },
    onEvent: (event) => {
      context.note(eventLine(event));
    },
  };
  return { news, stop };
}

/** A step's row under its heading. */
function alignedRow({
  step,
  totalSteps,
  metrics,
  timings,
  tokens,
}: Parameters<TrainNews["onStep"]>[0]): [heads: string, cells: string] {
  const digits = String(totalSteps).length;
  const heads = ["step", ...COLUMNS.map(([head]) => head), "tokens/s"];
  const seconds = (timings.rollout + timings.update) / 1000;
  const cells = [
    `${String(step).padStart(digits)}/${totalSteps}`,
    ...COLUMNS.map(([, metric, write]) => write(metrics[metric] ?? 0)),
    ((tokens.sampled + tokens.trained) / seconds).toFixed(0),
  ];
  const aligned = (row: readonly string[]): string =>
    row.map((cell, i) => cell.padStart(columnWidth(heads[i] ?? "", digits))).join("  ");
  return [aligned(heads), aligned(cells)];
}

/** What came of the check of the rewards, in a line. */
function rewardCheckNote(check: Parameters<TrainNews["onRewardCheck"]>[0]): string {
  return check === null ? "rewards: not checked (rewardCheck is false)" : rewardCheckLine(check);
}

/** As wide as the heading or the widest value: `40/40`, `0.0123`. */
function columnWidth(head: string, stepDigits: number): number {
  return Math.max(head.length, head === "step" ? 2 * stepDigits + 1 : 6);
}

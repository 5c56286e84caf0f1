import type { CliContext } from "./command.ts";
import { parseEvaluationName } from "../evaluate/evaluation-name.ts";
import type { LearnedData, RunEvents, RunStep } from "../run/train/run-events.ts";
import { eventLine } from "./event-line.ts";
import { startProgress, type Progress } from "./progress.ts";
import { rewardCheckLine } from "./reward-check-text.ts";
import { sampleLines } from "./sft-text.ts";
import type { TrainWatch } from "./train-news.ts";

/** Heading, metric, and how it is written. */
type Column = readonly [string, string, (value: number) => string];

/** Columns of the step table. @param emMetric the run's own name of exact match. */
const columnsOf = (emMetric: string): readonly Column[] => [
  ["reward", "rollout/reward_mean", (v) => v.toFixed(3)],
  ["EM", emMetric, (v) => v.toFixed(3)],
  ["searches", "rollout/searches", (v) => v.toFixed(2)],
  ["answered", "rollout/answer_rate", (v) => v.toFixed(2)],
  ["entropy", "rollout/entropy", (v) => v.toFixed(3)],
  ["KL", "losses/kl", (v) => v.toFixed(4)],
  ["flat groups", "rollout/zero_variance_share", (v) => v.toFixed(2)],
];

/** A training as permanent lines, one per step: for pipes, logs and terminals too small for the live view. */
export function trainLines(context: CliContext, emMetric: string): TrainWatch {
  const columns = columnsOf(emMetric);
  let progress: Progress | null = null;
  let rows = 0;
  let stage = "";
  const stop = (): void => {
    progress?.stop();
    progress = null;
  };
  const news: RunEvents = {
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
      const { set, when } = parseEvaluationName(name);
      const around = when === "before" || when === "after" ? `${when} training` : when;
      // A world that pays has no answers to compare.
      const { em, return: paid } = metrics;
      const figure = paid === undefined ? `EM ${em.toFixed(3)}` : `return ${paid.toFixed(3)}`;
      const of = set === null ? "held-out questions" : `questions of set ${set}`;
      context.note(`${around}: ${figure} on ${n} ${of}`);
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
    onData: (data, totalSteps) => {
      stop();
      for (const line of dataLines(data, totalSteps)) context.note(line);
    },
    onValidation: (step, metrics) => {
      const when = step === 0 ? "before" : `step ${step}`;
      context.note(`${when}: validation ${validationText(metrics)}`);
    },
    onBatch: () => undefined,
    onStep: (step) => {
      if (isOfData(step)) {
        const bar = { label: "training", total: step.totalSteps, unit: "steps" };
        progress ??= startProgress(context, bar);
        progress.update(step.step, `loss ${lossOf(step).toFixed(3)}`);
        const every = Math.max(1, Math.round(step.totalSteps / LINES));
        const isShown = step.step % every === 0 || step.step === step.totalSteps;
        if (isShown) context.note(lossLine(step));
        return;
      }
      const [heads, cells] = alignedRow(step, columns);
      if (rows === 0) {
        stop();
        context.note(heads);
      }
      rows += 1;
      // An evaluation during training replaces the bar.
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

/** Approximate number of lines of a training on data, whose steps are many and short. */
const LINES = 20;

/** Whether a step learned from samples or pairs. */
function isOfData({ metrics }: RunStep): boolean {
  return "losses/sft" in metrics || "losses/preference" in metrics;
}

function lossOf({ metrics }: RunStep): number {
  return metrics["losses/sft"] ?? metrics["losses/preference"] ?? NaN;
}

function lossLine(step: RunStep): string {
  const { metrics, timing, totalSteps } = step;
  const compared = "losses/preference" in metrics ? [pairFigures("", metrics)] : [];
  const digits = String(totalSteps).length;
  const parts = [
    `step ${String(step.step).padStart(digits)}/${totalSteps}`,
    ...(compared.length > 0 ? compared : [`loss ${lossOf(step).toFixed(4)}`]),
    `${(timing["tokensPerSecond"] ?? NaN).toFixed(0).padStart(6)} tokens/s`,
  ];
  return parts.join("  ");
}

function pairFigures(prefix: string, metrics: Readonly<Record<string, number>>): string {
  const value = (name: string, digits: number): string =>
    (metrics[prefix + name] ?? NaN).toFixed(digits);
  return `loss ${value("losses/preference", 4)}  margin ${value("rewards/margin", 4)}  accuracy ${value("rewards/accuracy", 3)}`;
}

/** A measurement of held-out samples or pairs. */
export function validationText(metrics: Readonly<Record<string, number>>): string {
  if ("validation/losses/preference" in metrics) return pairFigures("validation/", metrics);
  const { "validation/loss": loss, "validation/em": em } = metrics;
  return [
    ...(loss === undefined ? [] : [`loss ${loss.toFixed(4)}`]),
    ...(em === undefined ? [] : [`EM ${em.toFixed(3)}`]),
  ].join(", ");
}

/** The data that a run learns from. */
function dataLines(data: LearnedData, totalSteps: number): string[] {
  if (data.kind === "pairs") {
    const { pairs, file, skipped } = data.train;
    const left = Object.entries(skipped).map(([reason, n]) => `${n} ${reason}`);
    const without = left.length === 0 ? "" : `, left out: ${left.join(", ")}`;
    return [`${pairs} pairs of ${file}${without}; ${totalSteps} steps`];
  }
  const { train, validation } = data;
  return [
    ...sampleLines("learning from", train),
    ...(validation === null ? [] : sampleLines("measuring on", validation)),
    `${totalSteps} steps`,
  ];
}

/** A step's row under its heading. */
function alignedRow(
  { step, totalSteps, metrics, timing }: RunStep,
  columns: readonly Column[],
): [heads: string, cells: string] {
  const digits = String(totalSteps).length;
  const heads = ["step", ...columns.map(([head]) => head), "tokens/s"];
  const cells = [
    `${String(step).padStart(digits)}/${totalSteps}`,
    ...columns.map(([, metric, write]) => {
      const value = metrics[metric];
      return value === undefined ? "–" : write(value);
    }),
    (timing["tokensPerSecond"] ?? NaN).toFixed(0),
  ];
  const aligned = (row: readonly string[]): string =>
    row.map((cell, i) => cell.padStart(columnWidth(heads[i] ?? "", digits))).join("  ");
  return [aligned(heads), aligned(cells)];
}

/** Result of the reward check in a line. */
function rewardCheckNote(check: Parameters<RunEvents["onRewardCheck"]>[0]): string {
  return check === null ? "rewards: not checked (rewardCheck is false)" : rewardCheckLine(check);
}

/** As wide as the heading or the widest value: `40/40`, `0.0123`. */
function columnWidth(head: string, stepDigits: number): number {
  return Math.max(head.length, head === "step" ? 2 * stepDigits + 1 : 6);
}

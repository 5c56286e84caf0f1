import { fixed, formatLoss, formatScore } from "../base/format.ts";
import { parseEvaluationName } from "../evaluate/policy-label.ts";
import type { LearnedData, RunEvents, RunStep, SampleFacts } from "../run/train/run-events.ts";
import { rewardCheckLine } from "../view/documents/checks.ts";
import type { CliContext } from "./command.ts";
import { metricCells } from "./dashboard/metric-rows.ts";
import { type Progress, startProgress } from "./progress.ts";

/** Columns of the step table, by their names in the live view. */
const COLUMNS = ["reward", "EM", "searches", "answered", "entropy", "KL", "flat groups"];

/** A training as permanent lines, one per step: for pipes, logs and terminals too small for the live view. */
export function trainLines(context: CliContext, emMetric: string): TrainWatch {
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
      progress = startProgress(context, { label: `evaluating ${name}`, total, unit: "answers" });
    },
    onEvaluationProgress: ({ done, em }) => {
      progress?.update(done, `EM ${formatScore(em)}`);
    },
    onEvaluation: (name, { metrics, n }) => {
      stop();
      const { set, when } = parseEvaluationName(name);
      const around = when === "before" || when === "after" ? `${when} training` : when;
      // A world that pays has no answers to compare.
      const { em, return: paid } = metrics;
      const figure = paid === undefined ? `EM ${formatScore(em)}` : `return ${formatScore(paid)}`;
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
        progress.update(step.step, `loss ${formatLoss(lossOf(step))}`);
        const every = Math.max(1, Math.round(step.totalSteps / LINES));
        const isShown = step.step % every === 0 || step.step === step.totalSteps;
        if (isShown) context.note(lossLine(step));
        return;
      }
      const [heads, cells] = alignedRow(step, emMetric);
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
      const { kind, step, message } = event;
      context.note(`${kind}, after step ${step}: ${message}`);
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
    ...(compared.length > 0 ? compared : [`loss ${formatLoss(lossOf(step))}`]),
    `${fixed(0)(timing["tokensPerSecond"] ?? NaN).padStart(6)} tokens/s`,
  ];
  return parts.join("  ");
}

function pairFigures(prefix: string, metrics: Readonly<Record<string, number>>): string {
  const value = (name: string): number => metrics[prefix + name] ?? NaN;
  const [loss, margin] = [value("losses/preference"), value("rewards/margin")].map(formatLoss);
  return `loss ${loss}  margin ${margin}  accuracy ${formatScore(value("rewards/accuracy"))}`;
}

/** A measurement of held-out samples or pairs. */
function validationText(metrics: Readonly<Record<string, number>>): string {
  if ("validation/losses/preference" in metrics) return pairFigures("validation/", metrics);
  const { "validation/loss": loss, "validation/em": em } = metrics;
  return [
    ...(loss === undefined ? [] : [`loss ${formatLoss(loss)}`]),
    ...(em === undefined ? [] : [`EM ${formatScore(em)}`]),
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
  emMetric: string,
): [heads: string, cells: string] {
  const digits = String(totalSteps).length;
  const heads = ["step", ...COLUMNS, "tokens/s"];
  const cells = [
    `${String(step).padStart(digits)}/${totalSteps}`,
    ...metricCells(metrics, COLUMNS, emMetric),
    fixed(0)(timing["tokensPerSecond"] ?? NaN),
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

/** Most ids on the line; the run's sft.json has all. */
const NAMED = 3;

/** Counts of a file of samples, and the samples left out. */
function sampleLines(purpose: string, facts: SampleFacts): string[] {
  const { samples, tokens, learned, file } = facts;
  const leftOut: [string, readonly string[]][] = [
    ["too long", facts.tooLong.map((each) => `${each.id} (${each.tokens} tokens)`)],
    ["nothing in them to learn", facts.nothingToLearn],
    ["of weight 0", facts.weightless],
  ];
  return [
    samples === 0
      ? `${purpose}: no samples in ${file}`
      : `${purpose} ${samples} samples of ${file}: ${tokens} tokens, ${learned} of them learned`,
    ...leftOut.flatMap(([why, ids]) => {
      if (ids.length === 0) return [];
      const more = ids.length > NAMED ? ", …" : "";
      return [`left out, ${why}: ${ids.length} (${ids.slice(0, NAMED).join(", ")}${more})`];
    }),
  ];
}

/** Shows a training to people while it runs. */
export interface TrainWatch {
  readonly news: RunEvents;
  /** Clears temporary output and releases the terminal; may be called again. */
  readonly stop: () => void;
}

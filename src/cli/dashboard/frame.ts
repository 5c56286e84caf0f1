/** The lines of a frame of the live view. */
import {
  formatDifference,
  formatDuration,
  formatScore,
  plural,
  rounded,
} from "../../base/format.ts";
import { displayWidth } from "../../base/table.ts";
import { type Segment, type Trajectory, searchCount } from "../../trajectory/trajectory.ts";
import { curveRows } from "../../view/sparkline.ts";
import { type Line, type Piece, type Style, piece, widthOf } from "../../view/styled.ts";
import { paneLines, rule } from "../../view/trajectory-lines.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import { bigText } from "./big-text.ts";
import { KEYS } from "./keys.ts";
import { LEAST, LEAST_TRAJECTORY, type Layout, layoutOf } from "./layout.ts";
import { type MetricRow, comparedSteps, metricRows } from "./metric-rows.ts";
import type { EvaluationPoint, RunView } from "./run-view.ts";

/** Content of a frame. */
export interface FrameProps {
  view: RunView;
  terminal: { columns: number; rows: number };
  colours: boolean;
  /** Whether keys are read. */
  keys: boolean;
  help: boolean;
  /** Number of the shown rollout of the latest step. */
  rollout: number;
  textOf: (segment: Segment) => string | null;
  /** The final frame, which stays on the screen: without keys and rollout. */
  ended: boolean;
}

/** Lines, fewer than the terminal has rows. */
export function frameLines(props: FrameProps): Line[] {
  const { view, terminal, ended, help } = props;
  const asked = askedText(view);
  const shown = metricRows(view.history, view.facts.emMetric);
  const layout = layoutOf(terminal, {
    metrics: shown.length,
    events: view.events.length,
    trajectory: view.batch !== null && !ended,
    evaluations: view.evaluations.length,
    more: Number(asked !== null),
  });
  const { columns } = layout;
  const work = [workLine(view, columns), ...(asked === null ? [] : [[piece(asked, "note")]])];
  // The terminal has become too small for more.
  if (terminal.columns < LEAST.columns || terminal.rows < LEAST.rows) return work;
  const gap = layout.gaps ? [[]] : [];
  const trajectories = view.batch === null ? [] : trajectoryLines(props, layout);
  const body = help
    ? helpLines(shown, terminal.rows - 5 - Number(layout.folder))
    : [
        ...gap,
        ...evaluationLines(view.evaluations, layout),
        ...metricTable(shown.slice(0, layout.metrics * layout.metricColumns), view, layout),
        ...view.events.slice(Math.max(0, view.events.length - layout.events)).map(eventLine),
        ...(trajectories.length === 0 ? [] : [...gap, ...trajectories]),
      ];
  return [
    headLine(view, columns),
    ...(layout.folder ? [[piece(view.facts.out, "dim")]] : []),
    ...[...work, ...body],
    ...(ended ? [] : [...gap, keyLine(props.keys, columns)]),
  ];
}

/** A line of exactly a width, cut or filled. */
function fit(line: Line, width: number): Line {
  const own: Line = [];
  let left = width;
  for (const { text, style } of line) {
    if (displayWidth(text) > left) {
      let kept = "";
      for (const character of text) {
        if (displayWidth(`${kept}${character}…`) > left) break;
        kept += character;
      }
      return fit([...own, { text: left > 0 ? `${kept}…` : "", style }], width);
    }
    own.push({ text, style });
    left -= displayWidth(text);
  }
  return [...own, piece(" ".repeat(left))];
}

/** The run's name, and its duration at the right. */
function headLine({ facts, device, stage, elapsedMs }: RunView, columns: number): Line {
  const of = [facts.tier, `seed ${facts.seed}`, ...(device === null ? [] : [device])];
  const { number, total, name, kind } = stage ?? {};
  const called =
    stage === null
      ? ""
      : ` · stage ${number}/${total}: ${name}${name === kind ? "" : ` (${kind})`}`;
  const seconds = Math.round(elapsedMs / 1000);
  const time = seconds < 10 ? `${seconds} s` : formatDuration(seconds);
  const left = [
    piece(facts.recipe, "bold"),
    piece(` · ${of.join(" · ")}`, "dim"),
    piece(called, "tag"),
  ];
  return [...fit(left, columns - time.length - 2), piece(`  ${time}`, "dim")];
}

/** Pending requests to a run; null: none. */
function askedText({ asked, paused, step }: RunView): string | null {
  if (paused) return `paused after step ${step}: p goes on`;
  const parts = [
    ...(asked.save ? ["save a checkpoint"] : []),
    ...(asked.evaluate ? ["evaluate"] : []),
    ...(asked.pause ? ["pause"] : []),
    ...(asked.stop ? ["stop"] : []),
  ];
  return parts.length === 0 ? null : `after this step: ${parts.join(", ")}`;
}

/** The run's current work and progress. */
function workLine(view: RunView, columns: number): Line {
  const { work } = view;
  const width = Math.max(10, Math.min(40, Math.floor(columns / 4)));
  switch (work.kind) {
    case "starting":
      return [piece("starting", "bold")];
    case "evaluating": {
      const em = work.em === null ? "" : ` · EM ${formatScore(work.em)}`;
      return [
        piece(`evaluating ${work.name} `, "bold"),
        ...bar(work.done / work.total, width),
        piece(` ${work.done}/${work.total} answers${em}`),
      ];
    }
    case "stage": {
      const { done, total, note } = work;
      const of = total === null ? `${done} questions` : `${done}/${total} steps`;
      const filled = total === null ? [] : [...bar(done / total, width), piece(" ")];
      return [piece("stage ", "bold"), ...filled, piece(of), piece(` · ${note}`, "dim")];
    }
    case "training":
      return trainingLine(view, width);
  }
}

function trainingLine(
  { step, totalSteps, batch, stepMs, leftMs, paused }: RunView,
  width: number,
): Line {
  if (totalSteps === null) {
    const doing = batch === null ? "sampling" : "updating";
    return [piece(`step ${step + 1}`, "bold"), piece(` · ${doing}`, "dim")];
  }
  const share = totalSteps === 0 ? 1 : step / totalSteps;
  // A run without rollouts learns from samples or pairs.
  const doing = batch === null || batch.step > step ? "updating" : "sampling";
  const facts = [
    ...(leftMs === null || step >= totalSteps ? [] : [`${formatDuration(leftMs / 1000)} left`]),
    ...(stepMs === null ? [] : [`${formatDuration(stepMs / 1000)} a step`]),
    ...(step >= totalSteps || paused ? [] : [doing]),
  ];
  return [
    piece(`step ${step}/${totalSteps} `, "bold"),
    ...bar(share, width),
    piece(` ${Math.floor(share * 100)} %`),
    piece(facts.map((fact) => ` · ${fact}`).join(""), "dim"),
  ];
}

/** A share as a bar. */
function bar(share: number, width: number): Line {
  const filled = Math.round(Math.min(1, Math.max(0, share)) * width);
  return [piece("█".repeat(filled), "tag"), piece("░".repeat(width - filled), "dim")];
}

/** Exact match on held-out questions so far: in a line, or the latest in large letters with its history beside it. */
function evaluationLines(
  all: readonly EvaluationPoint[],
  { evaluations: rows, columns }: Layout,
): Line[] {
  const last = all.at(-1);
  if (last === undefined || rows === 0) return [];
  if (rows === 1) return [fittingLine(all, columns)];
  const large = bigText(formatScore(last.em));
  const width = Math.max(...large.map((line) => line.length)) + 3;
  const beside: Line[] = [
    [piece("held-out EM", "bold"), piece(` on ${last.n} questions, ${last.name}`, "dim")],
    fittingLine(all, columns - width, false).slice(1),
    outcome(all, true),
  ];
  return [...large.map((line, i) => [piece(line.padEnd(width), "bold"), ...(beside[i] ?? [])]), []];
}

/** The first evaluation, as many of the latest as fit, the change and the best. */
function fittingLine(
  evaluations: readonly EvaluationPoint[],
  columns: number,
  hasOutcome = true,
): Line {
  const [first, ...later] = evaluations;
  if (first === undefined) return [];
  for (let kept = later.length; kept >= 1; kept--) {
    const shown = [first, ...later.slice(later.length - kept)];
    const way = wayLine(shown, later.length - kept);
    const ends = hasOutcome ? [true, false].map((named) => outcome(evaluations, named)) : [[]];
    const lines = ends.map((end) => [...way, ...end]);
    const fitting = lines.find((line) => widthOf(line) <= columns);
    if (fitting !== undefined) return fitting;
  }
  return wayLine([first, ...later.slice(-1)], later.length - 1);
}

/** @param hidden evaluations between the first and the second that is shown. */
function wayLine(shown: readonly EvaluationPoint[], hidden: number): Line {
  return [
    piece("held-out EM", "bold"),
    ...shown.flatMap(({ name, em }, i) => {
      const between = i === 0 ? " " : i === 1 && hidden > 0 ? " → … → " : " → ";
      return [piece(`${between}${name} `, "dim"), piece(formatScore(em), "bold")];
    }),
  ];
}

/** The change since the first evaluation, and the best. @param isNamed whether it names the first. */
function outcome(all: readonly EvaluationPoint[], isNamed: boolean): Line {
  const [first] = all;
  const last = all.at(-1);
  if (first === undefined || last === undefined || all.length < 2) return [];
  const change = last.em - first.em;
  const best = all.reduce((found, each) => (each.em > found.em ? each : found));
  return [
    piece(`  ${formatDifference(change)}`, change > 0 ? "good" : change < 0 ? "bad" : "dim"),
    piece(isNamed ? ` since ${first.name}` : "", "dim"),
    ...(best === last ? [] : [piece(`  best ${formatScore(best.em)} (${best.name})`, "note")]),
  ];
}

const TRENDS: Record<MetricRow["trend"], Style> = { better: "good", worse: "bad", neutral: "dim" };
const GAP = 3;

/** Metrics by row: the current value, its change over the run, and its curve. */
function metricTable(rows: readonly MetricRow[], view: RunView, layout: Layout): Line[] {
  const { metricColumns, columns } = layout;
  const width = Math.floor((columns - GAP * (metricColumns - 1)) / metricColumns);
  const perColumn = Math.ceil(rows.length / metricColumns);
  const parts = Array.from({ length: metricColumns }, (_, i) =>
    metricLines(rows.slice(i * perColumn, (i + 1) * perColumn), width, view, layout),
  );
  return (parts[0] ?? []).map((_, i) =>
    parts.flatMap((lines, at) => [
      ...(at === 0 ? [] : [piece(" ".repeat(GAP))]),
      ...fit(lines[i] ?? [], width),
    ]),
  );
}

function metricLines(
  rows: readonly MetricRow[],
  width: number,
  view: RunView,
  { headings, tallCurves, curveHeight }: Layout,
): Line[] {
  const alarmed = alarmedMetrics(view);
  const widest = (key: "label" | "value" | "change", heading: string): number =>
    Math.max(headings ? heading.length : 0, ...rows.map((row) => row[key].length));
  const [label, value, change] = [
    widest("label", ""),
    widest("value", "now") + 2,
    widest("change", "change") + 2,
  ];
  const rest = Math.max(0, width - label - value - change - 2);
  const curve = curveHeadings(view).find(({ length }) => length <= rest) ?? "";
  const head = `${" ".repeat(label)}${"now".padStart(value)}${"change".padStart(change)}  ${curve}`;
  const lines = rows.flatMap((row, at): Line[] => {
    const rings = alarmed.has(row.metric);
    const curves = curveRows(row.values, rest, row.isShare, at < tallCurves ? curveHeight : 1);
    return curves.map((text, i): Line => [
      // The figures stand at the foot of a tall curve.
      ...(i < curves.length - 1
        ? [piece(" ".repeat(label + value + change))]
        : [
            piece(row.label.padEnd(label), rings ? "bad" : "plain"),
            piece(row.value.padStart(value), rings ? "bad" : "bold"),
            piece(row.change.padStart(change), TRENDS[row.trend]),
          ]),
      piece("  "),
      piece(text, "tag"),
    ]);
  });
  return headings && rows.length > 0 ? [[piece(head, "dim")], ...lines] : lines;
}

/** What the curves and changes are of, the longest first. */
function curveHeadings({ history }: RunView): string[] {
  const [first, last] = [history[0]?.step ?? 0, history.at(-1)?.step ?? 0];
  const steps = first === last ? `step ${last}` : `steps ${first}–${last}`;
  const n = comparedSteps(history.length);
  return n === 0 ? [steps] : [`${steps} · change: last ${n} less first ${n}`, steps];
}

/** Steps for which a metric stays marked after its alarm. */
const ALARM_STEPS = 5;

function alarmedMetrics({ events, step }: RunView): ReadonlySet<string> {
  const recent = events.filter(
    (event) => event.kind === "alarm" && event.step > step - ALARM_STEPS,
  );
  return new Set(recent.map(({ facts }) => String(facts["metric"])));
}

const EVENTS: Partial<Record<RunEvent["kind"], Style>> = {
  ...{ alarm: "bad", "checkpoint-damaged": "bad", unscored: "bad" },
  ...{ lint: "bold", resumed: "bold", reporter: "dim" },
};

function eventLine({ kind, step, message }: RunEvent): Line {
  const style = EVENTS[kind] ?? "note";
  return [
    piece(`step ${step} `, "dim"),
    piece(`${kind} `, style),
    // A message becomes one line here; events.jsonl has its line breaks.
    piece(message.replaceAll(/\s+/g, " "), style === "dim" ? "dim" : "plain"),
  ];
}

/** Rollouts of the latest step, as many as fit, from one on: outcome and text by owner. */
function trajectoryLines(
  { view, rollout, colours, textOf }: FrameProps,
  { columns, trajectory: rows }: Layout,
): Line[] {
  const { trajectories = [], step = 0, size = 0 } = view.batch ?? {};
  const start = rollout % Math.max(1, trajectories.length);
  const lines: Line[] = [];
  for (const trajectory of [...trajectories.slice(start), ...trajectories.slice(0, start)]) {
    const gap = lines.length === 0 ? [] : [[]];
    const left = rows - lines.length - gap.length;
    if (left < LEAST_TRAJECTORY) break;
    // A narrow terminal shows only the outcome; the id contains the step.
    const of = columns < 100 ? "" : ` of step ${step}'s ${size}`;
    const title = [
      piece(`rollout ${trajectory.id}`, "bold"),
      piece(`${of} · `, "dim"),
      ...outcomePieces(trajectory),
    ];
    const text = paneLines(trajectory, left - 1, { columns, plain: !colours, textOf });
    lines.push(...gap, rule(title, { columns }), ...text);
  }
  return lines;
}

function outcomePieces(trajectory: Trajectory): Piece[] {
  const { end, answer, reward } = trajectory;
  return [
    piece(end, end === "answered" ? "plain" : "note"),
    ...(answer === null ? [] : [piece(` “${answer.trim()}”`, "bold")]),
    piece(` · ${plural(searchCount(trajectory), "search", "searches")}`, "dim"),
    ...(reward === null
      ? []
      : [piece(" · reward ", "dim"), piece(rounded(reward), reward > 0 ? "good" : "plain")]),
  ];
}

/** The available keys. */
function keyLine(able: boolean, columns: number): Line {
  if (!able) return [piece("no keys: stdin is not a terminal · Ctrl-C interrupts", "dim")];
  const spelled = (length: "long" | "short"): Line =>
    KEYS.flatMap(({ key, ...words }, i) => [
      piece(i === 0 ? "" : "  "),
      piece(key, "bold"),
      piece(` ${words[length]}`, "dim"),
    ]);
  const long = spelled("long");
  return widthOf(long) <= columns ? long : spelled("short");
}

const CHANGE_MEANS =
  "change: mean of the last five steps less the first five's; under ten: by halves";

/** Explains keys and the metrics that the run has. */
function helpLines(metrics: readonly MetricRow[], rows: number): Line[] {
  const widest = Math.max(...metrics.map(({ label }) => label.length));
  const lines: Line[] = [
    ...KEYS.map(({ key, means }): Line => [piece(key.padEnd(8), "bold"), piece(means)]),
    [],
    // Before the metrics, the last of which a small terminal leaves out.
    ...(metrics.length === 0 ? [] : [[piece(CHANGE_MEANS, "dim")]]),
    ...metrics.map(({ label, means }): Line => [
      piece(label.padEnd(widest + 2), "bold"),
      piece(means),
    ]),
  ];
  return lines.filter((line) => lines.length <= rows || line.length > 0).slice(0, rows);
}

import { ABSENT, formatCount, plural } from "../../base/format.ts";
import type { Arm, ArmComparisonBase } from "../runs/arms.ts";
import type { RunFiles } from "../runs/run-files.ts";
import { runLabel, runName } from "../runs/run-parts.ts";
import { type HtmlCell, type HtmlGroup, small, tableCard } from "./html-table.ts";
import { type Content, html, type Markup, seriesLabel, tag } from "./markup.ts";

/** Kinds of events that every run has; they are folded. */
const ROUTINE = new Set(["lint"]);

/** The events of all runs, by time. */
export function eventTable(arms: readonly Arm[]): Content {
  const events = arms.flatMap((arm) =>
    arm.runs.flatMap((run) =>
      [run, ...run.stages].flatMap((own) =>
        own.events.map((event) => ({ series: arm.series, run: runName(arm, run), event })),
      ),
    ),
  );
  const tableOf = (shown: typeof events): Markup =>
    tableCard({
      caption: "Events",
      className: "plain events-table",
      columns: ["run", { label: "step", format: formatCount }, "what", "message"],
      rows: shown.map(({ series, run, event }) => [
        ...[seriesLabel(series, run), event.step, event.kind, event.message],
      ]),
    });
  const routine = events.filter(({ event }) => ROUTINE.has(event.kind));
  const news = events.filter((each) => !routine.includes(each));
  return [
    news.length > 0 && tableOf(news),
    routine.length > 0 &&
      html`<details class="further">
        <summary>${plural(routine.length, "check")} of first batches</summary>
        ${tableOf(routine)}
      </details>`,
  ];
}

/** The runs behind the arms: folder, state, and the machine. */
export function runsTable(arms: readonly Arm[]): Markup {
  return tableCard({
    caption: "Runs",
    className: "plain runs-table",
    columns: ["run", "folder", { label: "steps", align: "right" }, "state", "made by"],
    rows: arms.flatMap(({ series, ...arm }) =>
      arm.runs.flatMap((run) => [
        [seriesLabel(series, runName({ series, ...arm }, run)), ...runCells(run)],
        ...run.stages.map((stage) => ["", ...runCells(stage)]),
      ]),
    ),
  });
}

function runCells(run: RunFiles): HtmlCell[] {
  const { folder, steps, state, manifest, kind, events, troubles } = run;
  const { done, planned } = steps;
  const returns = events.filter((event) => event.kind === "rollback").length;
  const { device, cpu, workers } = manifest.machine;
  const made = [
    ...(manifest.agentrl === undefined ? [] : [`agentrl ${manifest.agentrl}`]),
    ...[device, cpu].filter((each) => typeof each === "string"),
    ...(typeof workers === "number" ? [plural(workers, "worker")] : []),
  ];
  return [
    tag("code", {}, folder),
    [
      kind === "synth" || kind === "staged" ? ABSENT : formatCount(done),
      planned !== null && small(`of ${formatCount(planned)}`),
    ],
    [
      tag("span", { class: `badge ${TONES[state.state]}` }, state.state),
      state.message !== null && small(state.message),
      returns > 0 && small(`rolled back ${returns === 1 ? "once" : `${returns} times`}`),
      troubles.map((trouble) => tag("small", { class: "trouble" }, `not read: ${trouble}`)),
    ],
    small(made.join(", ")),
  ];
}

const TONES: Record<RunFiles["state"]["state"], string> = {
  running: "partly",
  finished: "right",
  interrupted: "",
  failed: "failed",
};

/** Settings, versions and data that differ: first those that define the arms, then the others. */
export function settingsTable({ arms, differences, conduct }: ArmComparisonBase): Markup {
  const making = differences.map(({ key, values }) => [breakable(key), ...values.map(valueCell)]);
  const other = conduct.map(({ key, values }) => [
    breakable(key),
    ...arms.map((arm, i) => valuesOfRuns(arm, values[i] ?? [])),
  ]);
  const groups: HtmlGroup[] = [
    { rows: making },
    {
      title: "Not part of the comparison: storage, alarms, reporting and numerics of runs",
      rows: other,
    },
  ];
  return tableCard({
    caption: "Settings that differ",
    className: "plain settings-table",
    columns: ["setting", ...arms.map(({ series, name }) => ({ label: seriesLabel(series, name) }))],
    groups: groups.filter(({ rows }) => rows.length > 0),
  });
}

/** A key that may wrap after its dots. */
function breakable(key: string): Markup {
  const parts = key.split(".").map((part, i) => (i === 0 ? part : html`.<wbr />${part}`));
  return tag("code", {}, parts);
}

function valueCell(value: string | undefined): Content {
  return value === undefined ? null : tag("code", {}, cut(value));
}

/** One value if the runs of an arm agree, else each value with its runs. */
function valuesOfRuns(arm: Arm, values: readonly (string | undefined)[]): Content {
  const distinct = [...new Set(values)];
  if (distinct.length === 1) return valueCell(distinct[0]);
  return distinct.map((value) => {
    const runs = arm.runs.filter((_, i) => values[i] === value).map((run) => runLabel(arm, run));
    return tag("div", { class: "of-runs" }, valueCell(value) ?? ABSENT, small(runs.join(", ")));
  });
}

/** Shortens long values: prompts may be pages long. */
function cut(text: string): string {
  if (/^[0-9a-f]{40,}$/.test(text)) return `${text.slice(0, 12)}…`;
  return text.length <= 300 ? text : `${text.slice(0, 299)}…`;
}

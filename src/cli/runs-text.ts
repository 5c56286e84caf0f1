import { relative } from "node:path";
import { ABSENT, fixed, formatBytes, orAbsent, shorten, shortNumber } from "../base/format.ts";
import { intervalColumn, renderText, type Table } from "../base/table.ts";
import { metricColumn } from "../evaluate/metrics/metric-columns.ts";
import type { RunDetail } from "../view/runs/run-detail.ts";
import type { RunSummary } from "../view/runs/run-summary.ts";

const RUN_COLUMNS = [
  ...["run", "recipe", "tier"],
  { label: "seed", format: String },
  { label: "steps", align: "right" as const },
  ...["state", "EM", "last written"],
  { label: "size", format: formatBytes },
];

/** Runs as a table, one per line, stages under their run; then unreadable runs, with the reason. */
export function runTable(
  runs: readonly RunSummary[],
  unread: readonly { path: string; trouble: string }[],
  folder: string,
): string {
  const rows = runs.flatMap((run) => [
    runRow(run, relative(folder, run.path) || run.path),
    ...run.stages.map((stage) => runRow(stage, `  ${stage.name}`)),
  ]);
  const listed = rows.length === 0 ? [] : [renderText({ columns: RUN_COLUMNS, rows })];
  const troubles = [
    ...unread.map(({ path, trouble }) => `${path}: ${trouble}`),
    ...runs.flatMap((run) => [run, ...run.stages]).flatMap(({ troubles: own }) => own),
  ];
  return [...listed, ...(troubles.length === 0 ? [] : ["", "not read:", ...troubles])].join("\n");
}

function runRow(run: RunSummary, name: string): Table["rows"][number] {
  const { recipe, tier, seed, state, em, updatedAt, bytes } = run;
  const facts = [stepsText(run), state, emText(em), timeText(updatedAt)];
  return [name, recipe, tier, seed, ...facts, bytes];
}

function stepsText({ steps: { done, planned }, kind }: RunSummary): string {
  if (kind === "synth" || kind === "staged") return ABSENT;
  return planned === null ? String(done) : `${done}/${planned}`;
}

function emText({ before, after }: RunSummary["em"]): string {
  if (before === null && after === null) return ABSENT;
  const [was, is] = [before, after].map((em) => (em === null ? "…" : fixed(3)(em)));
  return `${was ?? ""} → ${is ?? ""}`;
}

/** @example timeText("2026-03-01T12:34:56.789Z") // "2026-03-01 12:34 UTC" */
function timeText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** The details of a run as text. @param all every setting, not only overrides. */
export function runText(run: RunDetail, all: boolean): string {
  const { path, stages, evaluations, checkpoints, events, troubles, next, last } = run;
  const number = { label: "", align: "right" } as const;
  const parts = [
    section(path, { rows: factsOf(run) }),
    settingsText(run, all),
    section("made with", { rows: madeRows(run) }),
    ...(last === null
      ? []
      : [
          section(`metrics of step ${last.step}`, {
            columns: ["", { ...number, format: shortNumber }],
            rows: Object.entries(last.values),
          }),
        ]),
    section("stages", {
      columns: RUN_COLUMNS.map((column) =>
        typeof column === "string" ? "" : { ...column, label: "" },
      ),
      rows: stages.map((stage) => runRow(stage, stage.name)),
    }),
    section("evaluations", {
      columns: [
        "",
        metricColumn("em"),
        intervalColumn("95 %", fixed(3)),
        metricColumn("f1"),
        { label: "questions", format: String },
      ],
      rows: evaluations.map(({ name, n, metrics, intervals }) => [
        ...[name, metrics["em"] ?? null, intervals["em"], metrics["f1"] ?? null, n],
      ]),
    }),
    section("checkpoints", {
      columns: ["", { ...number, format: formatBytes }],
      rows: checkpoints.map(({ step, bytes, complete }) => [
        ...[`step ${step}`, bytes, complete ? "" : "not complete"],
      ]),
    }),
    section("events", {
      rows: events.map(({ step, kind, message }) => [`step ${step}`, kind, message]),
    }),
    section("not read", { rows: troubles.map((trouble) => [trouble]) }),
    ...(next === null ? [] : [section(next.does, { rows: [[next.command]] })]),
  ];
  return parts.filter((part) => part !== "").join("\n\n");
}

/** A table under a title; nothing if it has no rows. */
function section(title: string, table: Table): string {
  return table.rows.length === 0 ? "" : `${title}\n${renderText(table, 2)}`;
}

function factsOf(run: RunDetail): string[][] {
  const { kind, recipe, tier, seed, state, stateMessage, em, bytes, updatedAt } = run;
  return [
    ["kind", kind],
    ["recipe", `${recipe ?? ABSENT}${tier === null ? "" : `, tier ${tier}`}`],
    ["seed", orAbsent(seed, String)],
    ["state", stateMessage === null ? state : `${state}: ${stateMessage}`],
    ["steps", stepsText(run)],
    ["EM", emText(em)],
    ["last written", timeText(updatedAt)],
    ["size", formatBytes(bytes)],
  ];
}

function settingsText({ settings }: RunDetail, all: boolean): string {
  if (settings.length === 0) return "";
  const shown = all ? settings : settings.filter(({ overrides }) => overrides);
  const title = all
    ? "settings"
    : `settings that override the recipe (${shown.length} of ${settings.length})`;
  const rows = shown.map(({ key, value, origin }) => [key, valueText(value), origin ?? ""]);
  return section(title, { rows: rows.length === 0 ? [["none"]] : rows });
}

/** A value on one line, cut so that the origins stay on the screen. */
function valueText(value: unknown): string {
  const text = typeof value === "string" ? value.replaceAll("\n", "⏎") : JSON.stringify(value);
  return shorten(text, 48);
}

function madeRows({ version, hashes, machine }: RunDetail): string[][] {
  const { memoryBytes, ...facts } = machine;
  return [
    ...(version === null ? [] : [["agentrl", version]]),
    ...Object.entries({ ...hashes, ...facts }).map(([key, value]) => [key, valueText(value)]),
    ...(typeof memoryBytes === "number" ? [["memory", formatBytes(memoryBytes)]] : []),
  ];
}

/** `agentrl runs list` and `show`. */
import { countsSteps } from "../runs/run-state.ts";
import { relative } from "node:path";
import {
  ABSENT,
  formatBytes,
  formatCount,
  formatScore,
  formatTime,
  orAbsent,
  shorten,
  shortNumber,
} from "../../base/format.ts";
import { metricFormat, metricLabel } from "../../evaluate/metrics/metric-columns.ts";
import { type Block, type Cell, type Column, heading, type RowGroup, table } from "../document.ts";
import type { RunDetail, RunSummary } from "../runs/run-summary.ts";
import type { RunFiles } from "../runs/run-files.ts";

const RUN_COLUMNS: readonly (Column | string)[] = [
  ...["run", "recipe", "tier"],
  { label: "seed", format: String },
  { label: "steps", align: "right" },
  ...["state", "EM", "last written"],
  { label: "size", format: formatBytes },
];

/** Runs as a table, one per line, stages under their run; then unreadable runs, with the reason. */
export function runListBlocks(
  runs: readonly RunSummary[],
  unread: readonly { path: string; trouble: string }[],
  folder: string,
): Block[] {
  const rows = runs.flatMap((run) => [
    runRow(run, relative(folder, run.path) || run.path),
    ...run.stages.map((stage) => runRow(stage, `  ${stage.name}`)),
  ]);
  const troubles = [
    ...unread.map(({ path, trouble }) => `${path}: ${trouble}`),
    ...runs.flatMap((run) => [run, ...run.stages]).flatMap(({ troubles: own }) => own),
  ];
  if (rows.length + troubles.length === 0)
    return [{ kind: "text", text: `no runs below ${folder}` }];
  return [
    table("Runs", RUN_COLUMNS, rows),
    ...part("not read", ...troubles.map((trouble) => [trouble])),
  ];
}

function runRow(run: RunSummary, name: string): Cell[] {
  const { recipe, tier, seed, state, updatedAt, bytes } = run;
  return [
    name,
    recipe,
    tier,
    seed,
    stepsText(run),
    state,
    emText(run),
    formatTime(updatedAt),
    bytes,
  ];
}

/** @example "4/40" */
export function stepsText({
  steps: { done, planned },
  kind,
}: Pick<RunFiles, "steps" | "kind">): string {
  if (!countsSteps(kind)) return ABSENT;
  return planned === null ? formatCount(done) : `${formatCount(done)}/${formatCount(planned)}`;
}

function emText({ kind, em: { before, after } }: Pick<RunSummary, "kind" | "em">): string {
  if (before === null && after === null) return ABSENT;
  const [was = "", is = ""] = [before, after].map((em) => (em === null ? "…" : formatScore(em)));
  // An evaluation alone measures one policy.
  return kind === "evaluate" ? is : `${was} → ${is}`;
}

/** A run, for a terminal. @param all every setting, not only overrides. */
export function runBlocks(run: RunDetail, all: boolean): Block[] {
  const { kind, recipe, tier, seed, state, stateMessage, bytes, updatedAt, version, next, last } =
    run;
  const { memoryBytes, ...machine } = run.machine;
  const shown = all ? run.settings : run.settings.filter(({ overrides }) => overrides);
  const count = `${shown.length} of ${run.settings.length}`;
  const step: Column = { label: `step ${last?.step ?? 0}`, format: shortNumber };
  const score = (name: string): Column => ({
    label: metricLabel(name),
    format: metricFormat(name),
  });
  return [
    heading(run.path),
    {
      kind: "facts",
      facts: [
        ["kind", kind],
        ["recipe", `${recipe ?? ABSENT}${tier === null ? "" : `, tier ${tier}`}`],
        ["seed", orAbsent(seed, String)],
        ["state", stateMessage === null ? state : `${state}: ${stateMessage}`],
        ["steps", stepsText(run)],
        ["EM", emText(run)],
        ["last written", formatTime(updatedAt)],
        ["size", formatBytes(bytes)],
      ],
    },
    ...(run.settings.length === 0
      ? []
      : part(
          all ? "settings" : `settings that override the recipe (${count})`,
          ...shown.map(({ key, value, origin }) => [key, valueText(value), origin ?? ""]),
          ...(shown.length === 0 ? [["none"]] : []),
        )),
    ...part(
      "made with",
      ...(version === null ? [] : [["agentrl", version]]),
      ...Object.entries({ ...run.hashes, ...machine }).map(([key, value]) => [
        key,
        valueText(value),
      ]),
      ...(typeof memoryBytes === "number" ? [["memory", formatBytes(memoryBytes)]] : []),
    ),
    ...headed("metrics", ["", step], Object.entries(last?.values ?? {})),
    ...headed(
      "stages",
      RUN_COLUMNS,
      run.stages.map((stage) => runRow(stage, stage.name)),
    ),
    ...headed(
      "evaluations",
      ["", score("em"), score("f1"), { label: "questions", format: formatCount }],
      run.evaluations.map(({ name, n, metrics, intervals }) => [
        ...[
          name,
          { value: metrics["em"] ?? null, interval: intervals["em"] },
          metrics["f1"] ?? null,
          n,
        ],
      ]),
    ),
    ...headed(
      "checkpoints",
      ["", { label: "size", format: formatBytes }, ""],
      run.checkpoints.map((each) => [
        `step ${each.step}`,
        each.bytes,
        each.complete ? "" : "not complete",
      ]),
    ),
    ...part(
      "events",
      ...run.events.map((event) => [`step ${event.step}`, event.kind, event.message]),
    ),
    ...part("not read", ...run.troubles.map((trouble) => [trouble])),
    ...(next === null ? [] : [{ kind: "command" as const, ...next }]),
  ];
}

/** A table under a heading; nothing if it has no rows. */
function headed(
  title: string,
  columns: readonly (Column | string)[],
  rows: RowGroup["rows"],
): Block[] {
  return rows.length === 0 ? [] : [heading(title), table(title, columns, rows)];
}

function part(title: string, ...rows: (readonly Cell[])[]): Block[] {
  return headed(title, [], rows);
}

/** A value on one line, cut so that the origins stay on the screen. */
function valueText(value: unknown): string {
  const text = typeof value === "string" ? value.replaceAll("\n", "⏎") : JSON.stringify(value);
  return shorten(text, 48);
}

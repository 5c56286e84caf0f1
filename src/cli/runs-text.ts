import { relative } from "node:path";
import type { RunDetail } from "../report/runs/run-detail.ts";
import type { RunSummary } from "../report/runs/run-summary.ts";
import { shortNumber } from "../report/short-number.ts";
import { bytesText } from "./amounts.ts";
import { table } from "./table.ts";

/** Runs as a table, one a line, stages under their run; then what could not be read, with why. */
export function runTable(
  runs: readonly RunSummary[],
  unread: readonly { path: string; trouble: string }[],
  folder: string,
): string {
  const head = ["run", "recipe", "tier", "seed", "steps", "state", "EM", "last written", "size"];
  const rows = runs.flatMap((run) => [
    runRow(run, relative(folder, run.path) || run.path),
    ...run.stages.map((stage) => runRow(stage, `  ${stage.name}`)),
  ]);
  const align = head.map((title) =>
    ["seed", "steps", "size"].includes(title) ? ("right" as const) : ("left" as const),
  );
  const listed = rows.length === 0 ? [] : [table(rows, { head, align })];
  const troubles = [
    ...unread.map(({ path, trouble }) => `${path}: ${trouble}`),
    ...runs.flatMap((run) => [run, ...run.stages]).flatMap(({ troubles: own }) => own),
  ];
  return [...listed, ...(troubles.length === 0 ? [] : ["", "not read:", ...troubles])].join("\n");
}

function runRow(run: RunSummary, name: string): string[] {
  const { recipe, tier, seed, state, em, updatedAt, bytes } = run;
  return [
    ...[name, recipe ?? "–", tier ?? "–", seed === null ? "–" : String(seed)],
    ...[stepsText(run), state, emText(em), timeText(updatedAt), bytesText(bytes)],
  ];
}

function stepsText({ steps: { done, planned }, kind }: RunSummary): string {
  if (kind === "synth" || kind === "staged") return "–";
  return planned === null ? String(done) : `${done}/${planned}`;
}

function emText({ before, after }: RunSummary["em"]): string {
  if (before === null && after === null) return "–";
  return `${emOf(before)} → ${emOf(after)}`;
}

function emOf(value: number | null): string {
  return value === null ? "…" : value.toFixed(3);
}

/** @example timeText("2026-03-01T12:34:56.789Z") // "2026-03-01 12:34 UTC" */
function timeText(iso: string): string {
  return `${iso.slice(0, 10)} ${iso.slice(11, 16)} UTC`;
}

/** Everything that is known of a run, for people. @param all every setting, not only what differs from the recipe. */
export function runText(run: RunDetail, all: boolean): string {
  const parts = [headText(run), settingsText(run, all), madeText(run), lastText(run)];
  const { stages, evaluations, checkpoints, events, troubles, next } = run;
  if (stages.length > 0)
    parts.push(section("stages", table(stages.map((stage) => runRow(stage, stage.name)))));
  if (evaluations.length > 0) parts.push(evaluationText(run));
  if (checkpoints.length > 0) {
    const rows = checkpoints.map(({ step, bytes, complete }) => [
      ...[`step ${step}`, bytesText(bytes), complete ? "" : "not complete"],
    ]);
    parts.push(section("checkpoints", table(rows, { align: ["left", "right"], indent: 2 })));
  }
  if (events.length > 0) {
    const rows = events.map(({ step, kind, message }) => [`step ${step}`, kind, message]);
    parts.push(section("events", table(rows, { indent: 2 })));
  }
  if (troubles.length > 0) parts.push(section("not read", `  ${troubles.join("\n  ")}`));
  if (next !== null) parts.push(section(next.does, `  ${next.command}`));
  return parts.filter((part) => part !== "").join("\n\n");
}

function section(title: string, text: string): string {
  return `${title}\n${text}`;
}

function headText(run: RunDetail): string {
  const { path, kind, recipe, tier, seed, state, stateMessage, em, bytes, updatedAt } = run;
  const why = stateMessage === null ? "" : `: ${stateMessage}`;
  const facts = [
    ["kind", kind],
    ["recipe", `${recipe ?? "–"}${tier === null ? "" : `, tier ${tier}`}`],
    ["seed", seed === null ? "–" : String(seed)],
    ["state", `${state}${why}`],
    ["steps", stepsText(run)],
    ["EM", emText(em)],
    ["last written", timeText(updatedAt)],
    ["size", bytesText(bytes)],
  ];
  return `${path}\n${table(facts, { indent: 2 })}`;
}

function settingsText({ settings }: RunDetail, all: boolean): string {
  const shown = all ? settings : settings.filter(({ overrides }) => overrides);
  const title = all
    ? "settings"
    : `settings laid over the recipe (${shown.length} of ${settings.length})`;
  if (settings.length === 0) return "";
  const rows = shown.map(({ key, value, origin }) => [key, valueText(value), origin ?? ""]);
  return section(title, rows.length === 0 ? "  none" : table(rows, { indent: 2 }));
}

/** A value on one line, cut where it would push the origins off the screen. */
function valueText(value: unknown): string {
  const text = typeof value === "string" ? value.replaceAll("\n", "⏎") : JSON.stringify(value);
  return text.length <= 48 ? text : `${text.slice(0, 47)}…`;
}

function madeText({ version, hashes, machine }: RunDetail): string {
  const rows = [
    ...(version === null ? [] : [["agentrl", version]]),
    ...Object.entries(hashes).map(([key, value]) => [key, valueText(value)]),
    ...Object.entries(machine).map(([key, value]) => [
      key,
      key === "memoryBytes" ? bytesText(Number(value)) : valueText(value),
    ]),
  ];
  return rows.length === 0 ? "" : section("made with", table(rows, { indent: 2 }));
}

function lastText({ last }: RunDetail): string {
  if (last === null) return "";
  const rows = Object.entries(last.values).map(([name, value]) => [name, shortNumber(value)]);
  return section(
    `metrics of step ${last.step}`,
    table(rows, { align: ["left", "right"], indent: 2 }),
  );
}

function evaluationText({ evaluations }: RunDetail): string {
  const rows = evaluations.map(({ name, n, metrics, intervals }) => {
    const [low, high] = intervals["em"] ?? [];
    const interval = low === undefined || high === undefined ? "" : `${emOf(low)}–${emOf(high)}`;
    return [name, emOf(metrics["em"] ?? null), interval, emOf(metrics["f1"] ?? null), String(n)];
  });
  return section(
    "evaluations",
    table(rows, {
      head: ["", "EM", "95 %", "F1", "questions"],
      align: ["left", "right", "left", "right", "right"],
      indent: 2,
    }),
  );
}

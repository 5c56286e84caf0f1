import { sha256 } from "../../base/files.ts";
import type { RunEvent } from "../run-event.ts";

export type Figures = Readonly<Record<string, number>>;

/** One event that a run reports. `at`: Unix time in milliseconds. */
export type ReporterEvent =
  | { kind: "step"; at: number; step: number; data: Figures; timing: Figures }
  | { kind: "evaluation"; at: number; name: string; step: number; scores: Figures }
  | { kind: "event"; at: number; event: RunEvent }
  | { kind: "end"; at: number; outcome: "finished" | "interrupted" | "failed" };

/** An event with numbers: a step or an evaluation. */
type FiguresEvent = Extract<ReporterEvent, { kind: "step" | "evaluation" }>;

/**
 * The figures under the names that every reporter gives them, `group/snake_case`: a step's own as they are, its timings as
 * `timing/…`. Evaluations before and after training are two points of `evaluation/…`, of a set of `evaluation/<set>/…`; those
 * during it, which may be on fewer questions, are `evaluation_during/…`.
 * @example namedFigures({ kind: "step", at, step: 1, data: { "losses/kl": 0 }, timing: { tokensPerSecond: 9 } })
 *   // { "losses/kl": 0, "timing/tokens_per_second": 9 }
 */
export function namedFigures(event: FiguresEvent): Record<string, number> {
  if (event.kind === "step") return { ...event.data, ...grouped("timing", event.timing) };
  const [, set, when = event.name] = /^(.+)\/(.+)$/.exec(event.name) ?? [];
  const isAround = when === "before" || when === "after";
  const group = isAround ? "evaluation" : "evaluation_during";
  return grouped(set === undefined ? group : `${group}/${set}`, event.scores);
}

/** A score that could not be measured is null and gives no point of a curve. */
function grouped(
  group: string,
  figures: Readonly<Record<string, unknown>>,
): Record<string, number> {
  return Object.fromEntries(
    Object.entries(figures).flatMap(([name, value]) =>
      typeof value === "number" ? [[`${group}/${snakeCase(name)}`, value]] : [],
    ),
  );
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Identity of an event: an event sent again has the same. */
export function subjectOf(event: Exclude<ReporterEvent, { kind: "end" }>): string {
  if (event.kind === "step") return `step/${event.step}`;
  if (event.kind === "evaluation") return `evaluation/${event.name}`;
  return `event/${event.event.step}/${event.event.kind}`;
}

/** The same for the same figures or message. Without timings: a repeated step has other timings. */
export function digestOf(event: Exclude<ReporterEvent, { kind: "end" }>): string {
  const said =
    event.kind === "step"
      ? event.data
      : event.kind === "event"
        ? event.event.message
        : event.scores;
  return sha256(JSON.stringify(said)).slice(0, 16);
}

/** How serious an event is, for receivers that show alerts. */
export const ALERT_LEVELS: Record<RunEvent["kind"], "info" | "warn" | "error"> = {
  alarm: "warn",
  rollback: "warn",
  "checkpoint-damaged": "error",
  waiting: "warn",
  lint: "info",
  budgets: "warn",
  exposed: "warn",
  resumed: "info",
  unscored: "warn",
  reporter: "warn",
};

/** A figure for JSON: NaN and infinity as text, as protobuf's JSON and Python write them. */
export function jsonNumber(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** A setting as text: scalars as they are, anything else as JSON. */
export function settingText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

import { sha256 } from "../../base/files.ts";
import type { RunEvent } from "../run-event.ts";

/** Figures by name. */
export type Figures = Readonly<Record<string, number>>;

/** One thing that a run told its reporters. `at`: when, Unix time in milliseconds. */
export type Told =
  | { kind: "step"; at: number; step: number; data: Figures; timing: Figures }
  | { kind: "evaluation"; at: number; name: string; step: number; scores: Figures }
  | { kind: "event"; at: number; event: RunEvent }
  | { kind: "end"; at: number; outcome: "finished" | "interrupted" | "failed" };

/** What is known by a step, or of an evaluation. */
export type ToldFigures = Extract<Told, { kind: "step" | "evaluation" }>;

/**
 * The figures under the names that every reporter gives them, `group/snake_case`: a step's own as they are, its timings as
 * `timing/…`. Evaluations before and after training are two points of `evaluation/…`; those during it, which may be on fewer
 * questions, are `evaluation_during/…`.
 * @example namedFigures({ kind: "step", at, step: 1, data: { "losses/kl": 0 }, timing: { tokensPerSecond: 9 } })
 *   // { "losses/kl": 0, "timing/tokens_per_second": 9 }
 */
export function namedFigures(told: ToldFigures): Record<string, number> {
  if (told.kind === "step") return { ...told.data, ...grouped("timing", told.timing) };
  const isAround = told.name === "before" || told.name === "after";
  return grouped(isAround ? "evaluation" : "evaluation_during", told.scores);
}

/** A score that could not be measured is null, and no point of a curve. */
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

/** What a thing told is of: told again, it is the same thing. */
export function subjectOf(told: Exclude<Told, { kind: "end" }>): string {
  if (told.kind === "step") return `step/${told.step}`;
  if (told.kind === "evaluation") return `evaluation/${told.name}`;
  return `event/${told.event.step}/${told.event.kind}`;
}

/** The same for the same figures or message. Timings do not count: a step that is done again has others. */
export function digestOf(told: Exclude<Told, { kind: "end" }>): string {
  const said =
    told.kind === "step" ? told.data : told.kind === "event" ? told.event.message : told.scores;
  return sha256(JSON.stringify(said)).slice(0, 16);
}

/** A figure as JSON can hold it: what is not finite as protobuf's JSON and Python write it. */
export function jsonNumber(value: number): number | string {
  return Number.isFinite(value) ? value : String(value);
}

/** A setting as text: scalars as they are, anything else as JSON. */
export function settingText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value);
}

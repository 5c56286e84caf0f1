import { existsSync } from "node:fs";
import { join } from "node:path";
import { definedValues } from "../../base/defined-values.ts";
import { readJsonl } from "../../base/jsonl.ts";
import { z } from "../../base/schema.ts";

/** All metrics of one step. */
export interface MetricsRow {
  step: number;
  /** By name; `timing/seconds` and `timing/tokens_per_second` beside the metrics. */
  values: Readonly<Record<string, number>>;
}

const numbers = z.record(z.string(), z.unknown()).catch({});
const lineSchema = z.looseObject({ step: z.int(), data: numbers, timing: numbers });

/**
 * A run's `metrics.jsonl` by step. Several lines of one step (a measurement has its own line) become one row; a cut last line and unknown
 * lines are skipped, because the run may be writing.
 *
 * @throws {DataError} JSONL_BAD_LINE when a line before the last is no JSON.
 */
export async function readRunMetrics(file: string): Promise<MetricsRow[]> {
  if (!existsSync(file)) return [];
  const rows = new Map<number, Record<string, number>>();
  for await (const { value } of readJsonl(file, { tolerateCutEnd: true })) {
    const line = lineSchema.safeParse(value);
    if (!line.success) continue;
    const { step, data, timing } = line.data;
    // The time of a measurement does not belong to the step.
    const times = rows.has(step) ? {} : stepTimes(finite(timing));
    rows.set(step, { ...rows.get(step), ...finite(data), ...times });
  }
  return [...rows].map(([step, values]) => ({ step, values })).sort((a, b) => a.step - b.step);
}

function finite(values: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      typeof value === "number" && Number.isFinite(value) ? [[name, value]] : [],
    ),
  );
}

/** Algorithms record times of parts in milliseconds, supervised training the step's in seconds. */
function stepTimes(timing: Readonly<Record<string, number>>): Record<string, number> {
  const { seconds: told, tokensPerSecond, tokens, ...parts } = timing;
  const all = Object.values(parts);
  const seconds =
    told ?? (all.length === 0 ? undefined : all.reduce((sum, ms) => sum + ms, 0) / 1000);
  const speed =
    tokensPerSecond ?? (tokens === undefined || !seconds ? undefined : tokens / seconds);
  return definedValues({ "timing/seconds": seconds, "timing/tokens_per_second": speed });
}

const eventSchema = z.looseObject({
  /** As src/watch/run-event.ts lists them, or of a later version. */
  kind: z.string(),
  step: z.int(),
  message: z.string(),
  facts: z.record(z.string(), z.unknown()).default({}),
  /** ISO time. */
  at: z.string().nullable().default(null),
});

/** A line of `events.jsonl`. */
export type LoggedEvent = z.output<typeof eventSchema>;

/** The events of a run, in order; a cut last line and unknown lines are skipped. */
export async function readRunEvents(folder: string): Promise<LoggedEvent[]> {
  const file = join(folder, "events.jsonl");
  if (!existsSync(file)) return [];
  const events: LoggedEvent[] = [];
  for await (const { value } of readJsonl(file, { tolerateCutEnd: true })) {
    const event = eventSchema.safeParse(value);
    if (event.success) events.push(event.data);
  }
  return events;
}

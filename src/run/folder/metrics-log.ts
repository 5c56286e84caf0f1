import { existsSync } from "node:fs";
import { writeFileAtomic } from "../../base/files.ts";
import { readJsonl } from "../../base/jsonl.ts";
import { checkOptions, z } from "../../base/schema.ts";
import type { MetricsLine } from "../../watch/metrics-line.ts";

/** What each step of a run came to; a step may have several lines. */
export const METRICS_FILE = "metrics.jsonl";

/** A number that is none is written as null. */
const lineSchema = z.looseObject({
  step: z.int(),
  data: z.record(z.string(), z.number().nullable()),
});

/**
 * The lines of a run's metrics; none where there is no file. A line that an interruption left half-written is dropped.
 * @throws {DataError} JSONL_BAD_LINE for any other that is not JSON.
 */
export async function* readMetrics(file: string): AsyncGenerator<MetricsLine> {
  if (!existsSync(file)) return;
  for await (const { value } of readJsonl(file, { tolerateCutEnd: true })) {
    const checked = checkOptions(lineSchema, value);
    if (checked.problem !== null) continue;
    const { step, data } = checked.value;
    const numbers = Object.entries(data).map(([name, each]) => [name, each ?? NaN] as const);
    yield { step, metrics: Object.fromEntries(numbers) };
  }
}

/** Keeps the lines of a log of steps up to one; a log that is not there becomes an empty one. */
export async function keepLines(file: string, lastStep: number): Promise<void> {
  const kept: string[] = [];
  if (existsSync(file)) {
    for await (const { value } of readJsonl(file, { tolerateCutEnd: true })) {
      if ((value as { step: number }).step <= lastStep) kept.push(`${JSON.stringify(value)}\n`);
    }
  }
  await writeFileAtomic(file, kept.join(""));
}

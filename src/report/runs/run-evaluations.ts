import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readJson } from "../../base/files.ts";
import { z } from "../../base/schema.ts";
import type { Interval } from "../../evaluate/statistics.ts";

/** A run's evaluation on held-out questions at one step. */
export interface RunEvaluation {
  /** `before`, `after`, `step-40`. */
  name: string;
  step: number;
  /** Questions. */
  n: number;
  metrics: Readonly<Record<string, number | null>>;
  /** 95 %, over questions. */
  intervals: Readonly<Record<string, Interval | null>>;
  /** Hash of the protocol; null if not recorded. */
  fingerprint: string | null;
  /** The search used the gold: a control, not a result. */
  readsGold: boolean;
  /** File with one line per question; it may be missing. */
  rows: string;
}

const summarySchema = z.looseObject({
  n: z.int(),
  metrics: z.record(z.string(), z.number().nullable()),
  intervals: z.record(z.string(), z.tuple([z.number(), z.number()]).nullable()).default({}),
  fingerprint: z.string().nullable().default(null),
  readsGold: z.boolean().default(false),
});

/**
 * The evaluations in a run's folder by step, `before` at 0.
 * @param lastStep the step of `after`.
 * @returns the readable evaluations, and a sentence for each unreadable file.
 */
export async function readRunEvaluations(
  folder: string,
  lastStep: number,
): Promise<{ evaluations: RunEvaluation[]; troubles: string[] }> {
  const place = join(folder, "eval");
  const evaluations: RunEvaluation[] = [];
  const troubles: string[] = [];
  for (const file of existsSync(place) ? await readdir(place) : []) {
    const [, name] = /^(before|after|step-\d+)\.json$/.exec(file) ?? [];
    if (name === undefined) continue;
    const path = join(place, file);
    const parsed = summarySchema.safeParse(await readJson(path).catch(() => null));
    if (!parsed.success) {
      troubles.push(`${path}: is no evaluation's summary.`);
      continue;
    }
    const step = name === "before" ? 0 : name === "after" ? lastStep : Number(name.slice(5));
    const rows = join(place, `${name}.rows.jsonl`);
    evaluations.push({ name, step, rows, ...parsed.data });
  }
  // The evaluation after training sorts after the one at the last step.
  const order = (name: string): number => (name === "after" ? 1 : 0);
  evaluations.sort((a, b) => a.step - b.step || order(a.name) - order(b.name));
  return { evaluations, troubles };
}

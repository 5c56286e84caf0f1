import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { readJson } from "../../base/files.ts";
import { z } from "../../base/schema.ts";
import { evaluationName } from "../../evaluate/policy-label.ts";
import type { Interval } from "../../evaluate/statistics.ts";

/** A run's evaluation on held-out questions at one step. */
export interface RunEvaluation {
  /** `before`, `after`, `step-40`; of a set, `transfer/after`. */
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

/** What a run's folder has of evaluations. */
export interface RunEvaluations {
  /** Of the run's own `evaluation`, by step, `before` at 0. */
  evaluations: RunEvaluation[];
  /** Of each of `evaluation.sets`. */
  sets: RunEvaluation[];
  /** A sentence for each unreadable file. */
  troubles: string[];
}

/** Reads the evaluations in a run's folder. @param lastStep the step of `after`. */
export async function readRunEvaluations(
  folder: string,
  lastStep: number,
): Promise<RunEvaluations> {
  const alone = await readResults(folder);
  if (alone !== null) return { evaluations: [alone], sets: [], troubles: [] };
  const place = join(folder, "eval");
  const { evaluations, troubles } = await readEvaluations(place, null, lastStep);
  const entries = existsSync(place) ? await readdir(place, { withFileTypes: true }) : [];
  const names = entries.filter((each) => each.isDirectory()).map(({ name }) => name);
  const sets: RunEvaluation[] = [];
  for (const set of names.sort()) {
    const found = await readEvaluations(join(place, set), set, lastStep);
    sets.push(...found.evaluations);
    troubles.push(...found.troubles);
  }
  return { evaluations, sets, troubles };
}

/** What a run measured that is an evaluation alone; null for others. */
async function readResults(folder: string): Promise<RunEvaluation | null> {
  const parsed = summarySchema.safeParse(
    await readJson(join(folder, "results.json")).catch(() => null),
  );
  if (!parsed.success) return null;
  return { name: "after", step: 0, rows: join(folder, "rows.jsonl"), ...parsed.data };
}

async function readEvaluations(
  place: string,
  set: string | null,
  lastStep: number,
): Promise<Omit<RunEvaluations, "sets">> {
  const evaluations: RunEvaluation[] = [];
  const troubles: string[] = [];
  for (const file of existsSync(place) ? await readdir(place) : []) {
    const [, when] = /^(before|after|step-\d+)\.json$/.exec(file) ?? [];
    if (when === undefined) continue;
    const path = join(place, file);
    const parsed = summarySchema.safeParse(await readJson(path).catch(() => null));
    if (!parsed.success) {
      troubles.push(`${path}: is no evaluation's summary.`);
      continue;
    }
    const step = when === "before" ? 0 : when === "after" ? lastStep : Number(when.slice(5));
    const rows = join(place, `${when}.rows.jsonl`);
    evaluations.push({ name: evaluationName(set, when), step, rows, ...parsed.data });
  }
  // The evaluation after training sorts after the one at the last step.
  const order = (name: string): number => (name.endsWith("after") ? 1 : 0);
  evaluations.sort((a, b) => a.step - b.step || order(a.name) - order(b.name));
  return { evaluations, troubles };
}

import { existsSync } from "node:fs";
import { mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { readJson, writeFileAtomic, writeJson } from "../../base/files.ts";
import { readJsonl } from "../../base/jsonl.ts";
import { METRICS_FILE } from "./metrics-log.ts";

/** A rollback to an earlier checkpoint. */
export interface Rollback {
  /** Completed steps. */
  step: number;
  /** The step of the checkpoint. */
  to: number;
  alarm: string;
}

/** `rollbacks.json` records a run's rollbacks; the undone records are moved to `rolled-back/<n>/`. */
const ROLLBACKS_FILE = "rollbacks.json";

/** The rollbacks of a run so far. @throws {DataError} FILE_NOT_JSON */
export async function rollbacksOf(run: string): Promise<Rollback[]> {
  const file = join(run, ROLLBACKS_FILE);
  return existsSync(file) ? ((await readJson(file)) as Rollback[]) : [];
}

/** Records a rollback: from now on it counts, whatever happens. */
export async function recordRollback(run: string, all: readonly Rollback[]): Promise<void> {
  await writeJson(join(run, ROLLBACKS_FILE), all);
}

/**
 * Moves what a run did after the checkpoint that it went back to out of the way: its metrics, and its trajectories. Done again it
 * does nothing.
 */
export async function setAside(run: string, all: readonly Rollback[]): Promise<void> {
  const last = all.at(-1);
  if (last === undefined) return;
  const folder = join(run, "rolled-back", String(all.length));
  const aside = join(folder, METRICS_FILE);
  if (existsSync(aside)) return;
  for (const kind of ["trajectories", "eval"]) {
    const [from, to] = [join(run, kind), join(folder, kind)];
    await mkdir(to, { recursive: true });
    for (const name of existsSync(from) ? await readdir(from) : []) {
      const step = Number(/^step-(\d+)\./.exec(name)?.[1] ?? NaN);
      if (step > last.to) await rename(join(from, name), join(to, name));
    }
  }
  const lines: string[] = [];
  const file = join(run, METRICS_FILE);
  if (existsSync(file)) {
    for await (const { value } of readJsonl(file, { tolerateCutEnd: true })) {
      if ((value as { step: number }).step > last.to) lines.push(`${JSON.stringify(value)}\n`);
    }
  }
  // Written last: while it is not there, something may be left to move.
  await writeFileAtomic(aside, lines.join(""));
}

/** Whether a checkpoint was made on the way that the run is on now. @param attempt returns before it was made. */
export function isCurrent(
  { step, attempt }: { step: number; attempt: number },
  all: readonly Rollback[],
): boolean {
  return all.slice(attempt).every(({ to }) => step <= to);
}

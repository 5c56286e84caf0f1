import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isAlive, processOf } from "../../base/folder-lock.ts";
import { RESOLVED_FILE, RUN_FILE, SEVERAL } from "../../run/folder/run-file.ts";
import { type RunOutcome, readOutcome } from "../../watch/run-outcome.ts";
import type { LoggedEvent } from "./run-metrics.ts";

/** Kind of a run: the name of its stage, or `stages` for several. */
export type RunKind = string;

/** Whether a run of this kind counts steps: it trains by itself. */
export function countsSteps(kind: RunKind): boolean {
  return !["synth", "evaluate", "index", SEVERAL].includes(kind);
}

/** State of a run. */
export interface KnownState {
  state: RunOutcome["state"] | "running";
  /** Why, or the evidence. */
  message: string | null;
}

/** The file that a run of each of our stages writes last; runs of older versions recorded no outcome. */
const LAST_FILE: Readonly<Record<RunKind, string>> = {
  train: join("eval", "after.json"),
  [SEVERAL]: join("eval", "after.json"),
  sft: "sft.json",
  preference: join("policy", "model.safetensors"),
  synth: "synth.json",
  evaluate: "results.json",
};

/**
 * State of a run, from files that a run leaves: the lock of its folder (a lock of a dead process means interrupted), its recorded outcome,
 * an alarm that stopped it, else whether its last file exists.
 */
export async function stateOf(
  folder: string,
  { kind, events }: { kind: RunKind; events: readonly LoggedEvent[] },
): Promise<KnownState> {
  // The lock's name has the process id (base/folder-lock.ts).
  const holders = await readdir(join(folder, "run.lock")).catch(() => []);
  const living = holders.find((mark) => isAlive(mark));
  if (living !== undefined) return { state: "running", message: `written by ${processOf(living)}` };
  const [gone] = holders;
  if (gone !== undefined)
    return { state: "interrupted", message: `${processOf(gone)} ended without an outcome` };
  const outcome = await readOutcome(folder);
  if (outcome !== null) return { state: outcome.state, message: outcome.message };
  const last = LAST_FILE[kind] ?? "outcome.json";
  if (existsSync(join(folder, last))) return { state: "finished", message: null };
  const since = events.findLastIndex(({ kind: what }) => what === "resumed");
  const stopped = events.slice(since + 1).findLast(({ facts }) => facts["action"] === "stop");
  if (stopped !== undefined) return { state: "failed", message: stopped.message };
  return { state: "interrupted", message: `no process writes it, and it has no ${last}` };
}

/** When a run's folder was last written to, in milliseconds since 1970; without the content of checkpoints. */
export async function updatedMs(folder: string): Promise<number> {
  const names = [
    ...["metrics.jsonl", "events.jsonl", "manifest.json", RESOLVED_FILE, RUN_FILE],
    ...["trajectories", "checkpoints", "eval", "draws.jsonl", "rows.jsonl", "sft.json", "policy"],
  ];
  const times = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  );
  return Math.max(...times);
}

import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isAlive, processOf } from "../../base/process-mark.ts";
import { readOutcome, type RunOutcome } from "../../watch/run-outcome.ts";
import type { LoggedEvent } from "./run-events.ts";

/** Kind of a run: reinforcement learning, samples, pairs, draws of a teacher, or several of these as stages. */
export type RunKind = "train" | "sft" | "dpo" | "synth" | "staged";

/** State of a run. */
export interface KnownState {
  state: RunOutcome["state"] | "running";
  /** Why, or the evidence. */
  message: string | null;
}

/** The file that a run of each kind writes last. */
const LAST_FILE: Readonly<Record<RunKind, string>> = {
  train: join("eval", "after.json"),
  staged: join("eval", "after.json"),
  sft: "sft.json",
  dpo: join("policy", "model.safetensors"),
  synth: "synth.json",
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
  const last = LAST_FILE[kind];
  if (existsSync(join(folder, last))) return { state: "finished", message: null };
  const since = events.findLastIndex(({ kind: what }) => what === "resumed");
  const stopped = events.slice(since + 1).findLast(({ facts }) => facts["action"] === "stop");
  if (stopped !== undefined) return { state: "failed", message: stopped.message };
  return { state: "interrupted", message: `no process writes it, and it has no ${last}` };
}

/** When a run's folder was last written to, in milliseconds since 1970; without the content of checkpoints. */
export async function updatedMs(folder: string): Promise<number> {
  const names = [
    ...["metrics.jsonl", "events.jsonl", "manifest.json", "recipe.resolved.yaml", "stages.json"],
    ...["trajectories", "checkpoints", "eval", "draws.jsonl", "sft.json", "policy"],
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

import { existsSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { isAlive, processOf } from "../../base/process-mark.ts";
import { readOutcome, type RunOutcome } from "../../watch/run-outcome.ts";
import type { LoggedEvent } from "./run-events.ts";

/** What made a run: reinforcement, samples, pairs, draws of a teacher, or several of these in order. */
export type RunKind = "train" | "sft" | "dpo" | "synth" | "staged";

/** How a run stands. */
export interface KnownState {
  state: RunOutcome["state"] | "running";
  /** Why, or how that is known. */
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
 * How a run stands, by signs that a living run leaves anyway: the lock of its folder while it is written (a process that is gone left
 * it behind: interrupted), how it says that it ended, an alarm that stopped it, else whether its last file is there.
 */
export async function stateOf(
  folder: string,
  { kind, events }: { kind: RunKind; events: readonly LoggedEvent[] },
): Promise<KnownState> {
  // Named after the process that holds it (base/folder-lock.ts).
  const holders = await readdir(join(folder, "run.lock")).catch(() => []);
  const living = holders.find((mark) => isAlive(mark));
  if (living !== undefined) return { state: "running", message: `written by ${processOf(living)}` };
  const [gone] = holders;
  if (gone !== undefined)
    return { state: "interrupted", message: `${processOf(gone)} ended without a word` };
  const outcome = await readOutcome(folder);
  if (outcome !== null) return { state: outcome.state, message: outcome.message };
  const last = LAST_FILE[kind];
  if (existsSync(join(folder, last))) return { state: "finished", message: null };
  const since = events.findLastIndex(({ kind: what }) => what === "resumed");
  const stopped = events.slice(since + 1).findLast(({ facts }) => facts["action"] === "stop");
  if (stopped !== undefined) return { state: "failed", message: stopped.message };
  return { state: "interrupted", message: `nobody writes it, and it has no ${last}` };
}

/** When a run's folder was last written to, in milliseconds since 1970; checkpoints are not looked into. */
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

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Random } from "../../src/base/random.ts";
import { startAgentrl } from "./agentrl-process.ts";
import type { PipelineCommand } from "./pipeline.ts";

/** When a process is to be killed: so long after its start, or when it is seen to write for the so many-th time. */
export type Moment = { afterMs: number } | { writing: number };

/** What came of a command that was to be killed. */
export interface KilledCommand {
  moment: Moment;
  /** False: it ended by itself before the moment came. */
  killed: boolean;
  status: number | null;
  stderr: string;
  ms: number;
  /** Names under its product that were half written when it was killed. */
  halfWritten: string[];
}

/**
 * Draws a moment over a command's duration. One in three is instead the sight of something half written: a file or folder under a
 * temporary name.
 */
export function drawMoment(random: Random, durationMs: number): Moment {
  if (random.int(3) === 0) return { writing: 1 + random.int(4) };
  return { afterMs: Math.round(random.next() * durationMs) };
}

/** Runs a command and kills it (SIGKILL) at a moment. */
export async function killAt(
  { args, product }: PipelineCommand,
  cwd: string,
  moment: Moment,
): Promise<KilledCommand> {
  const { child, ended } = startAgentrl(args, { cwd });
  let isOver = false;
  void ended.then(() => (isOver = true));
  const over = (): boolean => isOver;
  if ("afterMs" in moment) await Promise.race([wait(moment.afterMs), ended]);
  else await sightOfWriting(cwd, { product, times: moment.writing, over });
  const killed = child.kill("SIGKILL");
  const { status, stderr, ms } = await ended;
  const halfWritten = killed ? temporaryNames(cwd, product) : [];
  return { moment, killed: killed && status === null, status, stderr, ms, halfWritten };
}

/** Resolves when a name that was not there before has been seen `times` times, or the process is over. */
async function sightOfWriting(
  cwd: string,
  { product, times, over }: { product: string; times: number; over: () => boolean },
): Promise<void> {
  let seen = new Set(temporaryNames(cwd, product));
  let count = 0;
  while (!over()) {
    const now = new Set(temporaryNames(cwd, product));
    count += [...now].filter((name) => !seen.has(name)).length;
    if (count >= times) return;
    seen = now;
    await wait(1);
  }
}

/** What the product's writers call what is not whole yet. */
const TEMPORARY = /\.tmp-|\.partial$|\.removed$/;

function temporaryNames(cwd: string, product: string): string[] {
  const beside = namesIn(cwd).filter((name) => name.startsWith(`${product}.`));
  const within = namesIn(join(cwd, product), true);
  return [...beside, ...within].filter((name) => TEMPORARY.test(name));
}

/** Names in a folder that is being changed meanwhile. */
function namesIn(folder: string, recursive = false): string[] {
  try {
    return readdirSync(folder, { recursive, encoding: "utf8" });
  } catch {
    return [];
  }
}

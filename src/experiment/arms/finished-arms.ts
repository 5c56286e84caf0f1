import { existsSync } from "node:fs";
import { join } from "node:path";
import { writeFileAtomic } from "../../base/files.ts";
import { openJsonl, readJsonl } from "../../base/jsonl.ts";
import type { RunOrigin } from "../claims/run-origin.ts";
import { type ArmRun, armFolder } from "./arm-runs.ts";
import { type ArmStore, type FinishedArm, finishedArmSchema } from "./arm-store.ts";

const RUNS_FILE = "runs.jsonl";

/** Where a result was found: in the reproduction's own folder, in the store, or among the recipe's kept results. */
export type FoundIn = "folder" | "store" | "results";

/** The finished runs of a reproduction: `runs.jsonl` in its folder, and the store of all reproductions. */
export interface FinishedArms {
  /** By key; only what was found or added. */
  readonly known: ReadonlyMap<string, FinishedArm>;
  /** Looks for a run's result in the folder, then in the store. */
  find(run: ArmRun): Promise<FoundIn | null>;
  /** Records a result in both. */
  add(run: ArmRun, result: unknown): Promise<void>;
  close(): Promise<void>;
}

/** Opens a reproduction's folder. Lines that an interruption cut, or that are none of a finished arm, are dropped. */
export async function openFinishedArms(
  out: string,
  { store, origin }: { store: ArmStore | null; origin: RunOrigin },
): Promise<FinishedArms> {
  const path = join(out, RUNS_FILE);
  const lines = await readLines(path);
  await writeFileAtomic(path, lines.map((each) => `${JSON.stringify(each)}\n`).join(""));
  const log = await openJsonl(path);
  const known = new Map(lines.map((each) => [each.key, each]));
  const record = async ({ arms }: ArmRun, finished: FinishedArm): Promise<void> => {
    known.set(finished.key, finished);
    await log.append({ ...finished, arms });
  };
  return {
    known,
    async find(run) {
      if (known.has(run.key)) return "folder";
      const found = (await store?.take(run.key, armFolder(out, run))) ?? null;
      if (found === null) return null;
      await record(run, found);
      return "store";
    },
    async add(run, result) {
      const { key, seed } = run;
      const finished = { key, seed, result, origin };
      await record(run, finished);
      await store?.keep(finished, armFolder(out, run));
    },
    close: () => log.close(),
  };
}

async function readLines(path: string): Promise<FinishedArm[]> {
  const found: FinishedArm[] = [];
  if (!existsSync(path)) return found;
  for await (const { value } of readJsonl(path, { tolerateCutEnd: true })) {
    const parsed = finishedArmSchema.safeParse(value);
    if (parsed.success) found.push(value as FinishedArm);
  }
  return found;
}

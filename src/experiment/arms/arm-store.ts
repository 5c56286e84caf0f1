import { existsSync } from "node:fs";
import { cp, mkdir, readdir, rename } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage } from "../../base/errors.ts";
import {
  readJson,
  readText,
  removeAtOnce,
  sha256File,
  writeFileAtomic,
  writeJson,
} from "../../base/files.ts";
import { processMark } from "../../base/folder-lock.ts";
import { z } from "../../base/schema.ts";
import { userCache } from "../../base/user-cache.ts";
import { MANIFEST_FILE, RESOLVED_FILE, RUN_FILE } from "../../run/folder/run-file.ts";
import type { RunOrigin } from "../claims/run-origin.ts";

/** A finished run of an arm, with what it came to. */
export interface FinishedArm {
  /** Hash of everything that decides the result. */
  key: string;
  seed: number;
  result: unknown;
  origin: RunOrigin;
}

/** Finished arms of all reproductions on this machine, each a folder with a run's small files. */
export interface ArmStore {
  /** Copies an arm's files into a run's folder. @returns null: the store lacks it, or it is damaged. */
  take(key: string, folder: string): Promise<FinishedArm | null>;
  /** Adds an arm. A store that cannot be written costs a notice, never the run. */
  keep(arm: FinishedArm, folder: string): Promise<void>;
}

/** The store that all commands share, in the user's cache. */
export function sharedArms(): string {
  return join(userCache(), "arms");
}

const ENTRY = "arm.json";

/** A finished arm as files hold it. */
export const finishedArmSchema = z.object({
  key: z.string(),
  seed: z.number(),
  result: z.unknown(),
  origin: z.object({
    version: z.string(),
    commit: z.string().nullable().optional(),
    code: z.string().optional(),
    date: z.string(),
    command: z.string(),
    machine: z.record(z.string(), z.unknown()),
  }),
});

const entrySchema = finishedArmSchema.extend({
  /** Checksums by path. */
  files: z.record(z.string(), z.string()),
});

/** @param onNotice hears why an entry was refused or not written. */
export function openArmStore(place: string, onNotice: (message: string) => void): ArmStore {
  return {
    async take(key, folder) {
      const entry = join(place, key);
      if (!existsSync(entry)) return null;
      try {
        const { files, ...arm } = await wholeEntry(entry, key);
        await removeAtOnce(folder);
        for (const file of Object.keys(files)) await cp(join(entry, file), join(folder, file));
        return arm;
      } catch (error) {
        onNotice(`${entry}: is damaged (${errorMessage(error)}); the arm runs again.`);
        return null;
      }
    },
    async keep(arm, folder) {
      const entry = join(place, arm.key);
      const half = `${entry}.${processMark()}`;
      try {
        await mkdir(half, { recursive: true });
        await copySmallFiles(folder, half);
        await writeJson(join(half, ENTRY), { ...arm, files: await checksums(half) });
        await removeAtOnce(entry);
        await rename(half, entry);
      } catch (error) {
        onNotice(`${entry}: could not be written (${errorMessage(error)}); the arm is not reused.`);
        await removeAtOnce(half).catch(() => undefined);
      }
    },
  };
}

/** @throws whatever is wrong with an entry. */
async function wholeEntry(entry: string, key: string) {
  const arm = entrySchema.parse(await readJson(join(entry, ENTRY)));
  if (arm.key !== key) throw new Error(`it is of ${arm.key}`);
  for (const [file, sha256] of Object.entries(arm.files)) {
    if ((await sha256File(join(entry, file))) !== sha256) throw new Error(`${file} was changed`);
  }
  return arm;
}

const SMALL_FILES = [
  RESOLVED_FILE,
  MANIFEST_FILE,
  "metrics.jsonl",
  "events.jsonl",
  RUN_FILE,
  "stages.json",
];

/** What claims and pages read of a run: all but checkpoints, policies and most trajectories. */
async function copySmallFiles(from: string, to: string): Promise<void> {
  for (const name of SMALL_FILES)
    if (existsSync(join(from, name))) await cp(join(from, name), join(to, name));
  if (existsSync(join(from, "eval")))
    await cp(join(from, "eval"), join(to, "eval"), { recursive: true });
  await copyTrajectories(join(from, "trajectories"), join(to, "trajectories"));
  for (const stage of await namesIn(join(from, "stages")))
    await copySmallFiles(join(from, "stages", stage), join(to, "stages", stage));
}

/** Trajectories of the first and of the last step that stay, to look at. */
const TRAJECTORIES_KEPT = 16;

async function copyTrajectories(from: string, to: string): Promise<void> {
  const names = await namesIn(from);
  const step = (name: string): number => Number.parseInt(name.slice("step-".length), 10);
  const files = names.filter((name) => /^step-\d+\.jsonl$/.test(name));
  files.sort((a, b) => step(a) - step(b));
  for (const name of new Set([files[0], files.at(-1)])) {
    if (name === undefined) continue;
    const lines = (await readText(join(from, name))).split("\n").slice(0, TRAJECTORIES_KEPT);
    await mkdir(to, { recursive: true });
    await writeFileAtomic(join(to, name), `${lines.join("\n").trimEnd()}\n`);
  }
}

async function checksums(folder: string, below = ""): Promise<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const each of await readdir(join(folder, below), { withFileTypes: true })) {
    const path = join(below, each.name);
    if (each.isDirectory()) Object.assign(found, await checksums(folder, path));
    else found[path] = await sha256File(join(folder, path));
  }
  return found;
}

async function namesIn(folder: string): Promise<string[]> {
  return existsSync(folder) ? readdir(folder) : [];
}

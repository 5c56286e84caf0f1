import { AsyncLocalStorage } from "node:async_hooks";
import { type Stats, existsSync, mkdirSync, realpathSync, rmdirSync, statSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { ConfigError, ExternalError, errorMessage } from "../base/errors.ts";
import { lockFolder, processOf } from "../base/folder-lock.ts";
import { usage } from "./usage.ts";

/** What one command line writes: the locks, by path. */
const claims = new AsyncLocalStorage<Map<string, () => void>>();

/** Runs a command line; releases what it has claimed. */
export async function withClaims<T>(work: () => Promise<T>): Promise<T> {
  const held = new Map<string, () => void>();
  try {
    return await claims.run(held, work);
  } finally {
    for (const release of held.values()) release();
  }
}

/**
 * Claims the file that a command writes: refuses while another process writes it, and to replace a file that is not the command's own,
 * unless --overwrite is given. Call it before the work: a result that cannot be written would cost the user the time.
 *
 * @param overwrite value of `overwriteFlag()`.
 * @throws {ConfigError} OUTPUT_EXISTS. Devices and pipes pass, /dev/stdout for one: writing there replaces nothing.
 * @throws {ExternalError} as `claimWriting`.
 */
export function claimOutput(path: string, overwrite: boolean | undefined): void {
  claimWriting(path);
  const there = statOf(path);
  if (there === null || overwrite === true || isDevice(there)) return;
  throw new ConfigError(
    "OUTPUT_EXISTS",
    `${path}: already exists. Choose another name, or replace it with --overwrite.`,
  );
}

/**
 * Claims a file or folder for the rest of the command line, as its only writer. Readers need no claim. The lock of a dead process is
 * taken over.
 * @throws {ExternalError} OUTPUT_BUSY, FILE_WRITE_FAILED.
 */
export function claimWriting(path: string): void {
  const held = claims.getStore();
  const there = statOf(path);
  if (held === undefined || (there !== null && isDevice(there))) return;
  const place = realPlace(path);
  if (held.has(place)) return;
  try {
    held.set(place, lockOf(place, path));
  } catch (error) {
    if (error instanceof ExternalError) throw error;
    throw new ExternalError(
      "FILE_WRITE_FAILED",
      `${path}: cannot be written (${errorMessage(error)}). Choose another place.`,
      { cause: error },
    );
  }
}

/** The lock stands beside the path: a folder may be replaced as a whole. */
function lockOf(place: string, path: string): () => void {
  const parent = dirname(place);
  const made = makeParents(parent);
  const take = (folder: string, name: string): (() => void) => {
    const lock = lockFolder(folder, name, ({ mark, path: lockPath }) => {
      const message = `${path}: ${processOf(mark)} is writing it. Wait until it is done, stop it, or choose another place; if that machine is gone, remove ${lockPath}.`;
      return new ExternalError("OUTPUT_BUSY", message);
    });
    return () => {
      lock.release();
      for (const folder of made.toReversed()) removeIfEmpty(folder);
    };
  };
  try {
    return take(parent, `.${basename(place)}.lock`);
  } catch (error) {
    // A mounted folder can be written, though not its parent.
    const isInside = !(error instanceof ExternalError) && statOf(place)?.isDirectory() === true;
    if (isInside) return take(place, ".write.lock");
    for (const folder of made.toReversed()) removeIfEmpty(folder);
    throw error;
  }
}

/** @returns the folders that were missing, outermost first. */
function makeParents(folder: string): string[] {
  const missing: string[] = [];
  for (let at = folder; !existsSync(at); at = dirname(at)) missing.unshift(at);
  if (missing.length > 0) mkdirSync(folder, { recursive: true });
  return missing;
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // It holds the result.
  }
}

function isDevice(there: Stats): boolean {
  return !there.isFile() && !there.isDirectory();
}

/** One name for a path, however it is written and whether it exists. */
function realPlace(path: string): string {
  const full = resolve(path);
  const parent = dirname(full);
  return real(full) ?? (parent === full ? full : join(realPlace(parent), basename(full)));
}

/** Outputs of `agentrl eval --out` and `agentrl synth-data` that derived files must not replace. */
const MEASURED = new Set([
  ...["rows.jsonl", "trajectories.jsonl", "results.json"],
  ...["draws.jsonl", "samples.jsonl", "validation.jsonl", "dropped.jsonl", "synth.json"],
  ...["pairs.jsonl", "pairs-validation.jsonl", "manifest.json", "recipe.resolved.yaml"],
]);

/**
 * Refuses an output file that is an input file, or a file of an input folder. Not even --overwrite allows it.
 *
 * @param flag for the message.
 * @throws {ConfigError} USAGE
 */
export function refuseOwnInput(out: string, inputs: readonly string[], flag: string): void {
  const file = real(out);
  if (file === null) return;
  const own = inputs.find((input) => {
    const place = real(input);
    return place === file || (place === dirname(file) && MEASURED.has(basename(file)));
  });
  if (own === undefined) return;
  throw usage(`${flag} ${out}: would replace an input file of ${own}. Choose another file.`);
}

/** Null if nothing is there, also where a parent folder is a file: the writer reports that. */
function statOf(path: string): Stats | null {
  try {
    return statSync(path);
  } catch {
    return null;
  }
}

/** Null if it does not exist. */
function real(path: string): string | null {
  try {
    return realpathSync(path);
  } catch {
    return null;
  }
}

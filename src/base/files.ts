import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import {
  lstat,
  mkdir,
  open,
  readFile,
  readdir,
  realpath,
  rename,
  rm,
  stat,
  statfs,
} from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { createGunzip } from "node:zlib";
import { DataError, ExternalError, errorMessage } from "./errors.ts";
import { isAlive, processMark } from "./folder-lock.ts";
import { decodeText, refuseForeign } from "./foreign-file.ts";
import { isStalledDisk, onDisk } from "./waits/disk.ts";

/** Writes a file atomically: temporary file, fsync, rename. @throws {ExternalError} FILE_WRITE_FAILED (the old file stays); DISK_STALLED */
export async function writeFileAtomic(path: string, content: string | Uint8Array): Promise<void> {
  await writeAtomic(path, async (write) => {
    await write(content);
  });
}

/** `writeFileAtomic` for content that is produced in pieces. */
export async function writeAtomic(
  path: string,
  produce: (write: (piece: string | Uint8Array) => Promise<void>) => Promise<void>,
): Promise<void> {
  // A link stays a link: the file behind it is written.
  const place = await realpath(path).catch(() => path);
  const temporary = `${place}${TEMPORARY}${processMark()}`;
  try {
    // A rename would replace a device or pipe (/dev/stdout, /dev/null) for every process.
    const isFile = await onDisk(path, "look at it", () => isNoDevice(path));
    if (!isFile) {
      await writeInto(path, produce);
      return;
    }
    await onDisk(path, "make its folder", () => makeFolder(dirname(place)));
    await onDisk(path, "clean up after killed processes", () => removeRemains(place));
    await writeWhole(temporary, produce);
    await onDisk(path, "rename", () => rename(temporary, place));
  } catch (error) {
    if (isStalledDisk(error)) throw error;
    // The caller needs the first error, not one from this cleanup.
    await rm(temporary, { force: true }).catch(() => undefined);
    if (isSystemError(error)) {
      const message = `${path}: could not be written (${errorMessage(error)}). Nothing was changed; free space or choose another --out.`;
      throw new ExternalError("FILE_WRITE_FAILED", message, { cause: error });
    }
    throw error;
  }
}

async function isNoDevice(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found === null || found.isFile() || found.isDirectory();
}

async function writeInto(path: string, produce: Parameters<typeof writeAtomic>[1]): Promise<void> {
  const file = await open(path, "w");
  try {
    await produce((piece) => file.writeFile(piece));
  } finally {
    await file.close();
  }
}

async function writeWhole(
  path: string,
  produce: (write: (piece: string | Uint8Array) => Promise<void>) => Promise<void>,
): Promise<void> {
  const file = await onDisk(path, "open", () => open(path, "w"));
  let stalled = false;
  try {
    await produce((piece) => onDisk(path, "write", () => file.writeFile(piece)));
    await onDisk(path, "flush", () => file.sync());
  } catch (error) {
    stalled = isStalledDisk(error);
    throw error;
  } finally {
    // close() waits for operations that may never end, so a stalled file stays open.
    if (!stalled) await onDisk(path, "close", () => file.close());
  }
}

const TEMPORARY = ".tmp-";

async function removeRemains(path: string): Promise<void> {
  const [folder, prefix] = [dirname(path), `${basename(path)}${TEMPORARY}`];
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix) || isAlive(name.slice(prefix.length))) continue;
    await rm(join(folder, name), { force: true });
  }
}

/** JSON with two-space indentation and a final newline, written atomically. */
export async function writeJson(path: string, value: unknown): Promise<void> {
  await writeFileAtomic(path, `${JSON.stringify(value, null, 2)}\n`);
}

/** @throws {DataError} FILE_MISSING; FILE_NOT_JSON when it does not parse. */
export async function readJson(path: string): Promise<unknown> {
  const text = await readText(path);
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new DataError("FILE_NOT_JSON", `${path}: is not JSON (${errorMessage(error)}).`, {
      cause: error,
    });
  }
}

/** A text file, without a byte-order mark. @throws {DataError} FILE_MISSING; FILE_FORMAT when it is not text. @throws DISK_STALLED */
export async function readText(path: string): Promise<string> {
  return decodeText(path, await readBytes(path));
}

async function readBytes(path: string): Promise<Buffer> {
  try {
    return await onDisk(path, "read", () => readFile(path));
  } catch (error) {
    if (isStalledDisk(error)) throw error;
    throw unreadable(path, error);
  }
}

/** Makes a folder and its parents one by one: Node's recursive mkdir misreports read-only disks, and never ends in /proc. @returns if new. */
export async function makeFolder(path: string): Promise<boolean> {
  const missing: string[] = [];
  for (let at = resolve(path); !(await exists(at)); at = dirname(at)) missing.unshift(at);
  if (missing.length === 0) missing.push(path);
  let made = false;
  for (const folder of missing) {
    made = await mkdir(folder).then(
      () => true,
      async (error: unknown) => {
        // Another process may have made the same folder first.
        if (await isFolder(folder)) return false;
        throw error;
      },
    );
  }
  return made;
}

export async function isFolder(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => null);
  return found?.isDirectory() === true;
}

/** Whether a path leads to a file; false for a broken link. */
export async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

/** Size of a file in bytes; 0 when it does not exist. */
export async function sizeOf(path: string): Promise<number> {
  return lstat(path).then(
    ({ size }) => size,
    () => 0,
  );
}

/** SHA-256 of a file's bytes, in hex, streamed. @throws {DataError} FILE_MISSING */
export async function sha256File(path: string): Promise<string> {
  const hash = createHash("sha256");
  try {
    for await (const chunk of openBytes(path)) hash.update(chunk as Buffer);
  } catch (error) {
    throw unreadable(path, error);
  }
  return hash.digest("hex");
}

/** Path of a data file that stands for stdin. */
export const STDIN = "-";

/** What was read of each stdin: a test puts another in its place. */
const standardInputs = new WeakMap<object, Promise<Buffer>>();

/** A file's bytes, streamed. Stdin is kept in memory: some readers open their file twice. */
function openBytes(path: string): Readable {
  if (path !== STDIN) return createReadStream(path);
  const { stdin } = process;
  const bytes = standardInputs.get(stdin) ?? buffer(stdin);
  standardInputs.set(stdin, bytes);
  return Readable.from(piecesOf(bytes));
}

async function* piecesOf(bytes: Promise<Buffer>): AsyncGenerator<Buffer> {
  yield await bytes;
}

/** A file's bytes, streamed; decompresses gzip, whatever the file's name. The reader turns errors into `unreadable`. */
export async function* openUnpacked(path: string): AsyncGenerator<Buffer> {
  const file = openBytes(path);
  try {
    const chunks = file[Symbol.asyncIterator]() as AsyncGenerator<Buffer, undefined>;
    const { value: start } = await chunks.next();
    if (start === undefined) return;
    if (start[0] !== 0x1f || start[1] !== 0x8b) {
      if (path.endsWith(".gz")) throw notGzip(path, start);
      yield start;
      yield* chunks;
      return;
    }
    const packed = Readable.from(following(start, chunks));
    const bytes = packed.pipe(createGunzip());
    packed.on("error", (error) => bytes.destroy(error));
    yield* bytes as AsyncIterable<Buffer>;
  } finally {
    file.destroy();
  }
}

async function* following(start: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield start;
  yield* rest;
}

function notGzip(path: string, start: Buffer): DataError {
  refuseForeign(path, start);
  return damaged(path, "its name ends in .gz, but its bytes are not gzip");
}

function damaged(path: string, found: string, cause?: unknown): DataError {
  const message = `${path}: cannot be unpacked (${found}). Download or copy it again; if it is not compressed, rename it without .gz.`;
  return new DataError("FILE_DAMAGED", message, { cause });
}

/** For a reader that opens its file more than once: rejects folders and pipes; a missing path passes. @throws {DataError} FILE_MISSING */
export async function requireFile(path: string): Promise<void> {
  const found = await stat(path).catch(() => null);
  if (found === null || found.isFile()) return;
  const what = found.isDirectory()
    ? "it is a folder; name a file in it"
    : "it is a pipe, but this command reads it more than once; save it as a file first";
  throw unreadable(path, new Error(what));
}

/** SHA-256 of text or bytes, in hex. */
export function sha256(content: string | Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** FILE_MISSING, for a file that does not exist or cannot be read; FILE_DAMAGED for one that cannot be unpacked; an error that says more stays. */
export function unreadable(path: string, error: unknown): DataError {
  if (error instanceof DataError) return error;
  if (error instanceof Error && "code" in error && String(error.code).startsWith("Z_"))
    return damaged(path, error.message, error);
  const isFolder = isSystemError(error) && error.code === "EISDIR";
  const why = isFolder ? "it is a folder; name a file in it" : errorMessage(error);
  return new DataError("FILE_MISSING", `${path}: cannot be read (${why}).`, { cause: error });
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && "syscall" in error;
}

/** Suffix of a folder that `removeAtOnce` is deleting. */
export const REMOVED = ".removed";

/** Removes a folder, if it exists. It is renamed first, so that nobody finds a half-deleted folder under its name. */
export async function removeAtOnce(folder: string): Promise<void> {
  const removed = `${folder}${REMOVED}`;
  await rm(removed, { recursive: true, force: true });
  if (existsSync(folder)) await rename(folder, removed);
  await rm(removed, { recursive: true, force: true });
}

/** Free disk bytes for `path`, which need not exist; Infinity when none of its parent folders exists. */
export async function freeDiskBytes(path: string): Promise<number> {
  for (let folder = resolve(path); ; folder = dirname(folder)) {
    const found = await statfs(folder).catch(() => null);
    if (found !== null) return found.bavail * found.bsize;
    if (folder === dirname(folder)) return Infinity;
  }
}

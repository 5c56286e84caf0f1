import { createHash } from "node:crypto";
import { type FileHandle, open, rm } from "node:fs/promises";
import { join } from "node:path";
import { errorMessage, ExternalError } from "../base/errors.ts";
import { writeAtomic } from "../base/files.ts";

/** A written file of rows. */
export type WrittenFile = { rows: number; sha256: string };

/** A file of rows being written. */
export interface RowFile {
  /** @param line with its line end. */
  add(line: string | Uint8Array): Promise<void>;
}

const PIECE = 1 << 20;

interface OpenFile extends RowFile {
  end(): Promise<WrittenFile>;
}

/**
 * Writes several files of a folder at once; they appear, complete, only after all. @param body writes rows by file. @throws FILE_WRITE_FAILED
 */
export async function writingAll<T>(
  folder: string,
  names: readonly string[],
  body: (file: (name: string) => RowFile) => Promise<T>,
): Promise<T & { files: Record<string, WrittenFile> }> {
  const open = new Map<string, OpenFile>();
  const found = (name: string): RowFile => {
    const file = open.get(name);
    if (file === undefined) throw new Error(`${name} is not being written`);
    return file;
  };
  const outcome: { result?: T; files: Record<string, WrittenFile> } = { files: {} };
  const write = async (left: readonly string[]): Promise<void> => {
    const [name, ...rest] = left;
    if (name === undefined) {
      outcome.result = await body(found);
      for (const [each, file] of open) outcome.files[each] = await file.end();
      return;
    }
    await writeAtomic(join(folder, name), async (put) => {
      open.set(name, rowFile(put));
      await write(rest);
    });
  };
  await write(names);
  return { ...(outcome.result as T), files: outcome.files };
}

function rowFile(put: (piece: Uint8Array) => Promise<void>): OpenFile {
  const hash = createHash("sha256");
  let pieces: Uint8Array[] = [];
  let bytes = 0;
  let rows = 0;
  const flush = async (): Promise<void> => {
    const piece = Buffer.concat(pieces);
    pieces = [];
    bytes = 0;
    hash.update(piece);
    await put(piece);
  };
  return {
    async add(line) {
      const piece = Buffer.from(line);
      pieces.push(piece);
      bytes += piece.length;
      rows += 1;
      if (bytes >= PIECE) await flush();
    },
    async end() {
      await flush();
      return { rows, sha256: hash.digest("hex") };
    },
  };
}

/** Position of a row in a store. */
export type RowPlace = { start: number; length: number };

/** Rows on disk that can be read in another order. */
export interface RowStore {
  /** @param line with its line end. @throws {ExternalError} FILE_WRITE_FAILED */
  add(line: string): Promise<RowPlace>;
  read(place: RowPlace): Promise<Buffer>;
  close(): Promise<void>;
}

/** Opens an empty store in a file that no other code uses. @throws {ExternalError} FILE_WRITE_FAILED */
export async function openRowStore(path: string): Promise<RowStore> {
  const file = await asWriting(path, () => open(path, "w+"));
  let waiting: string[] = [];
  let waitingBytes = 0;
  let end = 0;
  const flush = async (): Promise<void> => {
    if (waitingBytes === 0) return;
    const bytes = Buffer.from(waiting.join(""));
    const at = end - waitingBytes;
    waiting = [];
    waitingBytes = 0;
    await asWriting(path, () => writeAll(file, bytes, at));
  };
  return {
    async add(line) {
      const length = Buffer.byteLength(line);
      const place = { start: end, length };
      waiting.push(line);
      waitingBytes += length;
      end += length;
      if (waitingBytes >= PIECE) await flush();
      return place;
    },
    async read({ start, length }) {
      await flush();
      const row = Buffer.alloc(length);
      await file.read(row, 0, length, start);
      return row;
    },
    async close() {
      await file.close();
      await rm(path, { force: true });
    },
  };
}

/** Writes all bytes: a full disk may accept a part without an error. */
async function writeAll(file: FileHandle, bytes: Buffer, at: number): Promise<void> {
  let done = 0;
  while (done < bytes.length) {
    const { bytesWritten } = await file.write(bytes, done, bytes.length - done, at + done);
    done += bytesWritten;
  }
}

async function asWriting<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const message = `${path}: the selected rows could not be written (${errorMessage(error)}). The draws and the earlier selection are unchanged. Free disk space, then run agentrl synth-data select again.`;
    throw new ExternalError("FILE_WRITE_FAILED", message, { cause: error });
  }
}

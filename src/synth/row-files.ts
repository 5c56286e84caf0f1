import { createHash } from "node:crypto";
import { join } from "node:path";
import { writeAtomic } from "../base/files.ts";

/** A file of rows that was written. */
export interface WrittenFile {
  rows: number;
  sha256: string;
}

/** A file of rows under way. */
export interface RowFile {
  /** @param line with its line end. */
  add(line: string | Uint8Array): Promise<void>;
}

/** Bytes that are written in one go. */
const PIECE = 1 << 20;

interface OpenFile extends RowFile {
  end(): Promise<WrittenFile>;
}

/**
 * Writes several files of a folder side by side; they are there, whole, when all of them have been written, and none before.
 *
 * @param body gives each its rows, by its name.
 * @returns what `body` does, and what was written by name.
 * @throws {ExternalError} FILE_WRITE_FAILED
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

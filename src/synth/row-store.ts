import { type FileHandle, open, rm } from "node:fs/promises";
import { errorMessage, ExternalError } from "../base/errors.ts";

/** Where a row lies in a store. */
export interface RowPlace {
  start: number;
  length: number;
}

/** Rows put aside on disk, to be read again in another order. */
export interface RowStore {
  /**
   * @param line with its line end.
   * @throws {ExternalError} FILE_WRITE_FAILED
   */
  add(line: string): Promise<RowPlace>;
  read(place: RowPlace): Promise<Buffer>;
  /** Removes it. */
  close(): Promise<void>;
}

/** Bytes that are written in one go. */
const PIECE = 1 << 20;

/**
 * Opens an empty store in a file, which must be nobody else's.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
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

/** All of it: a full disk may take a part and say nothing. */
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
    throw new ExternalError(
      "FILE_WRITE_FAILED",
      `${path}: what is selected could not be put aside (${errorMessage(error)}). The draws and what was selected before are unchanged; free space there, then agentrl synth-data select goes on from the draws.`,
      { cause: error },
    );
  }
}

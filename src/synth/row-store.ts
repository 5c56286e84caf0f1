import { open, rm } from "node:fs/promises";

/** Where a row lies in a store. */
export interface RowPlace {
  start: number;
  length: number;
}

/** Rows put aside on disk, to be read again in another order. */
export interface RowStore {
  /** @param line with its line end. */
  add(line: string): Promise<RowPlace>;
  read(place: RowPlace): Promise<Buffer>;
  /** Removes it. */
  close(): Promise<void>;
}

/** Bytes that are written in one go. */
const PIECE = 1 << 20;

/** Opens an empty store in a file, which must be nobody else's. */
export async function openRowStore(path: string): Promise<RowStore> {
  const file = await open(path, "w+");
  let waiting: string[] = [];
  let waitingBytes = 0;
  let end = 0;
  const flush = async (): Promise<void> => {
    if (waitingBytes === 0) return;
    const text = waiting.join("");
    const at = end - waitingBytes;
    waiting = [];
    waitingBytes = 0;
    await file.write(text, at);
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

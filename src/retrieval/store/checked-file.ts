import { closeSync, openSync, readSync, fsyncSync, mkdirSync, writeSync } from "node:fs";
import { crc32 } from "node:zlib";
import { dirname } from "node:path";
import { setImmediate } from "node:timers/promises";
import { DataError, errorMessage } from "../../base/errors.ts";

/** Bytes that share one checksum. */
export const PAGE_BYTES = 4096;

/** What a manifest says of a file. */
export interface FileEntry {
  /** Length of the content; the page table follows it. */
  bytes: number;
  /** CRC-32 of the page table, as 8 hex digits. */
  checksum: string;
}

/**
 * An immutable file with random access. Its last part is a table of CRC-32 checksums, one per
 * page of 4 096 bytes; every read checks its pages, so damaged bytes are never returned.
 */
export interface CheckedFile {
  readonly path: string;
  /** Length of the content. */
  readonly bytes: number;
  /**
   * The bytes `from` up to `to`, a view that nothing else writes to. Its offset in its buffer is that of `from` in its
   * page: an even `from` gives an even offset, and so on.
   *
   * @throws {DataError} INDEX_CORRUPT when a page is not what was written, or is not there.
   */
  read(from: number, to: number): Uint8Array<ArrayBuffer>;
  /**
   * The same bytes as text in UTF-8; for short pieces read often: nothing else is allocated.
   * @throws {DataError} INDEX_CORRUPT as above.
   */
  readText(from: number, to: number): string;
  close(): void;
}

/** Content inside of another program's file, which is left as it is: its page table is a file of its own. */
export interface OutsideContent {
  /** Where the content begins; its pages are counted from there. */
  offset: number;
  /** Path of the page table. */
  table: string;
}

/**
 * Opens a file and checks its length and its page table; the content is checked as it is read.
 * @throws {DataError} INDEX_CORRUPT
 */
export function openCheckedFile(
  path: string,
  { bytes, checksum }: FileEntry,
  outside?: OutsideContent,
): CheckedFile {
  const file = openForReading(path);
  try {
    const table =
      outside === undefined ? readTable(file, path, bytes) : readOwnTable(outside.table, bytes);
    const where = outside?.table ?? path;
    if (crcHex(table) !== checksum) throw corrupt(`${where}: its table of checksums was modified`);
    const checksums = new DataView(table.buffer);
    return checkedFile({ file, path, bytes, offset: outside?.offset ?? 0, checksums });
  } catch (error) {
    closeSync(file);
    throw error;
  }
}

/** Content held in memory, under the same interface. */
export function memoryFile(content: Uint8Array<ArrayBuffer>, path = "memory"): CheckedFile {
  return {
    path,
    bytes: content.length,
    read: (from, to) => content.subarray(from, to),
    readText: (from, to) =>
      Buffer.from(content.buffer, content.byteOffset).toString("utf8", from, to),
    close: () => undefined,
  };
}

const PIECE_BYTES = 1 << 22;

/** Reads and checks a whole file. @throws {DataError} INDEX_CORRUPT */
export async function readThrough(
  path: string,
  entry: FileEntry,
  { signal, outside }: { signal?: AbortSignal | undefined; outside?: OutsideContent | undefined },
): Promise<void> {
  const file = openCheckedFile(path, entry, outside);
  try {
    for (let from = 0; from < file.bytes; from += PIECE_BYTES) {
      file.read(from, Math.min(file.bytes, from + PIECE_BYTES));
      await setImmediate();
      signal?.throwIfAborted();
    }
  } finally {
    file.close();
  }
}

/** What `writePageTable` reads. */
interface TableOptions {
  /** Bytes of the content. */
  bytes: number;
  signal?: AbortSignal | undefined;
  /** Called with each piece in order, of a multiple of 4 096 bytes but for the last. @param at where it begins in the content. */
  onPiece?: (piece: Uint8Array<ArrayBuffer>, at: number) => void;
}

/**
 * Reads content of another program's file once, in pieces of 4 MiB, and writes its page table.
 * @throws {DataError} INDEX_CORRUPT when the file ends too early; what `onPiece` throws.
 */
export async function writePageTable(
  path: string,
  { offset, table: target }: OutsideContent,
  { bytes, signal, onPiece }: TableOptions,
): Promise<FileEntry> {
  const file = openForReading(path);
  const table = ownBytes(sizeOnDisk(bytes) - bytes);
  const checksums = new DataView(table.buffer);
  try {
    const buffer = ownBytes(Math.min(bytes, PIECE_BYTES));
    for (let at = 0; at < bytes; at += PIECE_BYTES) {
      const piece = buffer.subarray(0, Math.min(PIECE_BYTES, bytes - at));
      readFully(file, path, offset + at, piece);
      for (let page = 0; page < piece.length; page += PAGE_BYTES) {
        const sum = crc32(piece.subarray(page, page + PAGE_BYTES));
        checksums.setUint32((4 * (at + page)) / PAGE_BYTES, sum, true);
      }
      onPiece?.(piece, at);
      await setImmediate();
      signal?.throwIfAborted();
    }
  } finally {
    closeSync(file);
  }
  const written = openSync(target, "wx");
  try {
    writeFully(written, table);
    fsyncSync(written);
  } finally {
    closeSync(written);
  }
  return { bytes, checksum: crcHex(table) };
}

/** What content takes with its page table. */
export function sizeOnDisk(bytes: number): number {
  return bytes + 4 * Math.ceil(bytes / PAGE_BYTES);
}

/** CRC-32 as 8 hex digits. */
export function crcHex(bytes: Uint8Array): string {
  return crc32(bytes).toString(16).padStart(8, "0");
}

/** An error for a damaged file, with what to do. */
export function corrupt(what: string, cause?: unknown): DataError {
  return new DataError(
    "INDEX_CORRUPT",
    `${what.replace(/\.$/, "")}. Build the index again; an index is never changed by hand.`,
    { cause },
  );
}

interface OpenFile {
  file: number;
  path: string;
  bytes: number;
  /** Where the content begins in the file. */
  offset: number;
  /** [pages] u32, little-endian. */
  checksums: DataView;
}

function checkedFile({ file, path, bytes, offset, checksums }: OpenFile): CheckedFile {
  let scratch = Buffer.alloc(0);
  /** Reads the pages that hold the bytes, and checks them. @returns where the first page begins. */
  const readPages = (from: number, to: number, into: (length: number) => Uint8Array): number => {
    const begin = from - (from % PAGE_BYTES);
    const end = Math.min(bytes, Math.ceil(to / PAGE_BYTES) * PAGE_BYTES);
    const content = into(Math.max(0, end - begin));
    readFully(file, path, offset + begin, content);
    for (let at = 0; at < content.length; at += PAGE_BYTES) {
      const page = content.subarray(at, at + PAGE_BYTES);
      const number = (begin + at) / PAGE_BYTES;
      if (crc32(page) !== checksums.getUint32(4 * number, true))
        throw corrupt(
          `${path}: bytes ${offset + begin + at} to ${offset + begin + at + page.length} were modified`,
        );
    }
    return begin;
  };
  return {
    path,
    bytes,
    read(from, to) {
      let content = new Uint8Array(0);
      const begin = readPages(from, to, (length) => (content = ownBytes(length)));
      return content.subarray(from - begin, to - begin);
    },
    readText(from, to) {
      const begin = readPages(from, to, (length) => {
        if (length > scratch.length) scratch = Buffer.from(ownBytes(2 * length).buffer);
        return scratch.subarray(0, length);
      });
      return scratch.toString("utf8", from - begin, to - begin);
    },
    close: () => closeSync(file),
  };
}

function openForReading(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw corrupt(`${path}: cannot be read (${errorMessage(error)})`, error);
  }
}

function readTable(file: number, path: string, bytes: number): Uint8Array<ArrayBuffer> {
  const table = ownBytes(sizeOnDisk(bytes) - bytes);
  readFully(file, path, bytes, table);
  const beyond = readSync(file, new Uint8Array(1), 0, 1, bytes + table.length);
  if (beyond > 0) throw corrupt(`${path}: is longer than the manifest says`);
  return table;
}

/** The page table of another program's file. */
function readOwnTable(path: string, bytes: number): Uint8Array<ArrayBuffer> {
  const file = openForReading(path);
  try {
    const table = ownBytes(sizeOnDisk(bytes) - bytes);
    readFully(file, path, 0, table);
    return table;
  } finally {
    closeSync(file);
  }
}

/** In a buffer of their own, so that typed arrays can be laid over them. */
function ownBytes(length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Buffer.allocUnsafeSlow(length).buffer);
}

/** Fills `content`; one read may give at most 2 GiB. */
function readFully(file: number, path: string, from: number, content: Uint8Array): void {
  for (let done = 0; done < content.length;) {
    const wanted = Math.min(content.length - done, 1 << 30);
    const got = readSync(file, content, done, wanted, from + done);
    if (got === 0) throw corrupt(`${path}: ends at byte ${from + done}`);
    done += got;
  }
}

/** A file that grows at its end and is closed for good by `finish`. */
export interface FileWriter {
  readonly bytes: number;
  /** The bytes are copied. */
  append(content: Uint8Array): void;
  /** Writes what is buffered and the page table, and syncs. The writer must not be used afterwards. */
  finish(): FileEntry;
  /** Closes without finishing; the caller removes the file. Harmless after `finish`. */
  abandon(): void;
}

const BUFFER_BYTES = 256 * PAGE_BYTES;

/**
 * A new file in the layout that `openCheckedFile` reads; its folder is made. Writing is synchronous: it happens in
 * pieces of 1 MiB.
 *
 * @throws what the file system throws (disk full, no permission); the owner of the folder converts it.
 */
export function createFile(path: string): FileWriter {
  mkdirSync(dirname(path), { recursive: true });
  let file: number | null = openSync(path, "wx");
  const buffer = new Uint8Array(BUFFER_BYTES);
  let buffered = 0;
  let written = 0;
  const checksums: number[] = [];
  const flush = (): void => {
    for (let at = 0; at < buffered; at += PAGE_BYTES)
      checksums.push(crc32(buffer.subarray(at, Math.min(at + PAGE_BYTES, buffered))));
    writeFully(file, buffer.subarray(0, buffered));
    written += buffered;
    buffered = 0;
  };
  const abandon = (): void => {
    if (file !== null) closeSync(file);
    file = null;
  };
  return {
    get bytes() {
      return written + buffered;
    },
    append(content) {
      for (let at = 0; at < content.length;) {
        const piece = content.subarray(at, at + BUFFER_BYTES - buffered);
        buffer.set(piece, buffered);
        buffered += piece.length;
        at += piece.length;
        if (buffered === BUFFER_BYTES) flush();
      }
    },
    finish() {
      flush();
      const table = new Uint8Array(4 * checksums.length);
      const view = new DataView(table.buffer);
      checksums.forEach((checksum, page) => view.setUint32(4 * page, checksum, true));
      writeFully(file, table);
      if (file !== null) fsyncSync(file);
      abandon();
      return { bytes: written, checksum: crcHex(table) };
    },
    abandon,
  };
}

function writeFully(file: number | null, content: Uint8Array): void {
  if (file === null) throw new Error("the file is closed");
  let done = 0;
  while (done < content.length) done += writeSync(file, content, done);
}

/** Content that grows in memory; `take` gives it without spare room. */
interface MemoryWriter extends Pick<FileWriter, "bytes" | "append"> {
  take(): Uint8Array<ArrayBuffer>;
}

/** Where a `FileWriter` would be a file nobody needs. */
export function memoryWriter(): MemoryWriter {
  let content = new Uint8Array(1024);
  let length = 0;
  return {
    get bytes() {
      return length;
    },
    append(more) {
      if (length + more.length > content.length) {
        const larger = new Uint8Array(Math.max(2 * content.length, length + more.length));
        larger.set(content.subarray(0, length));
        content = larger;
      }
      content.set(more, length);
      length += more.length;
    },
    take: () => content.slice(0, length),
  };
}

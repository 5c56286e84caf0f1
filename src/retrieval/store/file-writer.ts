import { closeSync, fsyncSync, mkdirSync, openSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "node:zlib";
import { crcHex, type FileEntry, PAGE_BYTES } from "./checked-file.ts";

/** A file that grows at its end and is closed for good by `finish`. */
export interface FileWriter {
  /** Bytes so far. */
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
    for (let at = 0; at < buffered; at += PAGE_BYTES) {
      checksums.push(crc32(buffer.subarray(at, Math.min(at + PAGE_BYTES, buffered))));
    }
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
      checksums.forEach((checksum, page) => {
        view.setUint32(4 * page, checksum, true);
      });
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
export interface MemoryWriter extends Pick<FileWriter, "bytes" | "append"> {
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

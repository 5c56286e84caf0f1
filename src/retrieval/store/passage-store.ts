import { readSync } from "node:fs";
import type { FileHandle } from "node:fs/promises";
import { DataError } from "../../base/errors.ts";
import type { Passage } from "../../trajectory/task.ts";

/** The passages of a corpus by position. */
export interface PassageStore {
  /** N. */
  readonly count: number;
  /** @param position from 0 to N − 1. */
  read(position: number): Passage;
  close(): Promise<void>;
}

/** The text of a passage that is searched: title, a space, text. */
export function searchedText(passage: Passage): string {
  return `${passage.title} ${passage.text}`;
}

/** A passage as one line of JSON without its newline: what an index stores and what its corpus fingerprint hashes. */
export function passageLine({ id, title, text }: Passage): string {
  return JSON.stringify({ id, title, text });
}

/** Passages held in memory. */
export function memoryStore(passages: readonly Passage[]): PassageStore {
  return {
    count: passages.length,
    read: (position) => passages[position]!,
    close: () => Promise.resolve(),
  };
}

/**
 * Passages left on disk, one read each; the operating system's cache keeps the popular ones.
 *
 * @param file JSON lines, open for reading; closed with the store.
 * @param starts [N + 1] byte offsets of the lines.
 * @param path for messages.
 */
export function fileStore(file: FileHandle, starts: Float64Array, path: string): PassageStore {
  return {
    count: starts.length - 1,
    read(position) {
      const start = starts[position]!;
      const line = Buffer.allocUnsafe(starts[position + 1]! - start);
      // Synchronous: a passage from the page cache takes 2 µs, a round through the thread pool 30.
      const bytes = readSync(file.fd, line, 0, line.length, start);
      try {
        return JSON.parse(line.toString("utf8", 0, bytes)) as Passage;
      } catch (error) {
        throw new DataError(
          "INDEX_CORRUPT",
          `${path}: passage ${position}, at byte ${start}, is damaged. Build the index again; \`agentrl index check\` lists every damaged file.`,
          { cause: error },
        );
      }
    },
    close: () => file.close(),
  };
}

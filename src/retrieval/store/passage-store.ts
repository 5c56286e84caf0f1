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

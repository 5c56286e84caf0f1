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

/** UTF-16 units of the passages that are kept, at most: some 32 to 64 MB. */
export const RECENT_UNITS = 1 << 25;

/** What a kept passage takes beside its text. */
const OWN_UNITS = 200;

/**
 * Keeps the passages that were read last: those that questions of a run have in common are found again and again. When
 * they take too much, those that were not read for longest go first.
 */
export function recentPassages(store: PassageStore, mostUnits = RECENT_UNITS): PassageStore {
  // A map's keys are in the order in which they were set; a passage that is read again is set again.
  const kept = new Map<number, Passage>();
  let units = 0;
  const forgetOldest = (): void => {
    for (const [position, passage] of kept) {
      if (units <= mostUnits) return;
      kept.delete(position);
      units -= sizeOf(passage);
    }
  };
  return {
    count: store.count,
    read(position) {
      const known = kept.get(position);
      if (known !== undefined) {
        kept.delete(position);
        kept.set(position, known);
        return known;
      }
      const passage = store.read(position);
      kept.set(position, passage);
      units += sizeOf(passage);
      forgetOldest();
      return passage;
    },
    close: () => store.close(),
  };
}

function sizeOf({ id, title, text }: Passage): number {
  return OWN_UNITS + id.length + title.length + text.length;
}

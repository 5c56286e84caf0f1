import { kernelMemory, type KernelMemory } from "./sum-kernel.ts";
import { FREE_AT, type MemoryViews, viewsOf } from "./sum-layout.ts";

/** Bytes in memory; `keep` may move them. */
export interface Stored {
  /** Address, a multiple of 8. */
  at: number;
  readonly bytes: number;
  readonly memory: { readonly views: MemoryViews };
}

/** Storage of postings. */
export interface PostingsMemory {
  /** Copies pieces consecutively; each except the last must be a multiple of 8 bytes. */
  store(pieces: readonly Uint8Array[]): Stored;
}

/** The memory of a search's loops and of the postings, which are added in place. */
export interface SearchMemory extends PostingsMemory {
  readonly memory: KernelMemory;
  /** Discards everything except these, which move together. */
  keep(stored: readonly Stored[]): void;
}

/** Growth step. */
const STEP_BYTES = 1 << 22;

/** @param ownBytes of the memory, from `FREE_AT` on, without postings. */
export function searchMemory(ownBytes: number, memory = kernelMemory(FREE_AT)): SearchMemory {
  const first = FREE_AT + multipleOf8(ownBytes);
  memory.grow(first);
  let end = first;
  return {
    memory,
    store(pieces) {
      const bytes = sizeOf(pieces);
      if (end + bytes > memory.views.u8.length) memory.grow(end + bytes + STEP_BYTES);
      const at = end;
      end += bytes;
      copy(pieces, memory.views.u8, at);
      return { at, bytes, memory };
    },
    keep(stored) {
      end = first;
      for (const each of [...stored].sort((a, b) => a.at - b.at)) {
        memory.views.u8.copyWithin(end, each.at, each.at + each.bytes);
        each.at = end;
        end += each.bytes;
      }
    },
  };
}

/** A separate buffer per request: for postings that are read but not searched. */
export const separateMemory: PostingsMemory = {
  store(pieces) {
    const bytes = sizeOf(pieces);
    const views = viewsOf(new ArrayBuffer(bytes));
    copy(pieces, views.u8, 0);
    return { at: 0, bytes, memory: { views } };
  },
};

function sizeOf(pieces: readonly Uint8Array[]): number {
  return multipleOf8(pieces.reduce((sum, piece) => sum + piece.length, 0));
}

function copy(pieces: readonly Uint8Array[], to: Uint8Array, at: number): void {
  let place = at;
  for (const piece of pieces) {
    to.set(piece, place);
    place += piece.length;
  }
}

function multipleOf8(bytes: number): number {
  return Math.ceil(bytes / 8) * 8;
}

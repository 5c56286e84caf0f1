/** Where the accumulator lies in its memory. sums.wat repeats these numbers. */

/** Passages of a window: each has a sum, an i32; the sums lie at address 0. */
export const WINDOW = 1 << 18;

/** Passages that share a mark, a byte: 1 where one of them may have a sum. */
export const STRETCH_SHIFT = 9;
export const STRETCH = 1 << STRETCH_SHIFT;

/** Addresses: marks; candidates' distances from the window's start, and their sums; what follows is free for all else. */
export const MARKS_AT = 4 * WINDOW;
export const CANDIDATES_AT = MARKS_AT + WINDOW / STRETCH;
export const CANDIDATE_SUMS_AT = CANDIDATES_AT + 4 * WINDOW;
export const FREE_AT = CANDIDATE_SUMS_AT + 4 * WINDOW;

/**
 * Numbers per block in a table of blocks (i32): where its distances (u16) begin, where its impacts (u8) begin, where its
 * distances end, all from an address given beside the table; and the passage that the distances count from.
 */
export const ENTRY_NUMBERS = 4;
export const ENTRY_BYTES = 4 * ENTRY_NUMBERS;

/** The memory's content, by the width of what is read. */
export interface MemoryViews {
  u8: Uint8Array<ArrayBuffer>;
  u16: Uint16Array<ArrayBuffer>;
  u32: Uint32Array<ArrayBuffer>;
  i32: Int32Array<ArrayBuffer>;
  f32: Float32Array<ArrayBuffer>;
}

/** The views of a buffer. */
export function viewsOf(buffer: ArrayBuffer): MemoryViews {
  return {
    u8: new Uint8Array(buffer),
    u16: new Uint16Array(buffer),
    u32: new Uint32Array(buffer),
    i32: new Int32Array(buffer),
    f32: new Float32Array(buffer),
  };
}

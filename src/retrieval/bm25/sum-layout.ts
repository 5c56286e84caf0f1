/** Memory layout of the accumulator. sums.wat repeats these numbers. */

/** Passages per window: each has a sum, an i32; the sums start at address 0. */
export const WINDOW = 1 << 18;

/** Passages share one mark byte per stretch: 1 when one of them may have a sum. */
export const STRETCH_SHIFT = 9;
export const STRETCH = 1 << STRETCH_SHIFT;

/** Addresses: marks; candidates' distances from the window's start, and their sums; the rest is free. */
export const MARKS_AT = 4 * WINDOW;
export const CANDIDATES_AT = MARKS_AT + WINDOW / STRETCH;
export const CANDIDATE_SUMS_AT = CANDIDATES_AT + 4 * WINDOW;
export const FREE_AT = CANDIDATE_SUMS_AT + 4 * WINDOW;

/**
 * Numbers per entry in a table of blocks (i32): addresses of its distances (u16), of its impacts (u8), and of the
 * end of its distances, all relative to a base address; and the passage that the distances are relative to.
 */
export const ENTRY_NUMBERS = 4;
export const ENTRY_BYTES = 4 * ENTRY_NUMBERS;

/** The memory's content, by element type. */
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

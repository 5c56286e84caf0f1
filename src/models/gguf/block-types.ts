/** Storage types of GGUF tensors: blocks of numbers with common scales, and their values as float32. */
import { halfTable, widen } from "../stored-numbers.ts";

export interface BlockType {
  readonly name: string;
  readonly block: number;
  readonly bytes: number;
  /**
   * Writes the numbers of whole blocks, rounded once to float32: bit for bit those of the Python package `gguf`.
   * @param from whole blocks; its offset is a multiple of 4.
   * @param into `block` numbers for each block.
   */
  readonly widen: (from: Uint8Array, into: Float32Array) => void;
}

/**
 * The supported types by their number in the file.
 *
 * Source: ggml (ggml-common.h for the layouts, `dequantize_row_*` in ggml-quants.c for the values).
 */
export const blockTypes: ReadonlyMap<number, BlockType> = new Map<number, BlockType>([
  [0, { name: "F32", block: 1, bytes: 4, widen: f32 }],
  [1, { name: "F16", block: 1, bytes: 2, widen: halves("F16") }],
  [2, { name: "Q4_0", block: 32, bytes: 18, widen: q4_0 }],
  [3, { name: "Q4_1", block: 32, bytes: 20, widen: q4_1 }],
  [6, { name: "Q5_0", block: 32, bytes: 22, widen: q5_0 }],
  [7, { name: "Q5_1", block: 32, bytes: 24, widen: q5_1 }],
  [8, { name: "Q8_0", block: 32, bytes: 34, widen: q8_0 }],
  [12, { name: "Q4_K", block: 256, bytes: 144, widen: q4_k }],
  [13, { name: "Q5_K", block: 256, bytes: 176, widen: q5_k }],
  [14, { name: "Q6_K", block: 256, bytes: 210, widen: q6_k }],
  [30, { name: "BF16", block: 1, bytes: 2, widen: halves("BF16") }],
]);

/** Names of types that are not supported, for messages. */
export const otherTypes: ReadonlyMap<number, string> = new Map([
  ...([
    [9, "Q8_1"],
    [10, "Q2_K"],
    [11, "Q3_K"],
    [15, "Q8_K"],
    [16, "IQ2_XXS"],
  ] as const),
  ...([
    [17, "IQ2_XS"],
    [18, "IQ3_XXS"],
    [19, "IQ1_S"],
    [20, "IQ4_NL"],
    [21, "IQ3_S"],
  ] as const),
  ...([
    [22, "IQ2_S"],
    [23, "IQ4_XS"],
    [24, "I8"],
    [25, "I16"],
    [26, "I32"],
  ] as const),
  ...([
    [27, "I64"],
    [28, "F64"],
    [29, "IQ1_M"],
    [34, "TQ1_0"],
    [35, "TQ2_0"],
  ] as const),
  ...([
    [39, "MXFP4"],
    [40, "NVFP4"],
    [41, "Q1_0"],
  ] as const),
]);

function f32({ buffer, byteOffset, byteLength }: Uint8Array, into: Float32Array): void {
  into.set(new Float32Array(buffer, byteOffset, byteLength / 4));
}

function halves(type: "F16" | "BF16"): BlockType["widen"] {
  return ({ buffer, byteOffset, byteLength }, into) =>
    widen(new Uint16Array(buffer, byteOffset, byteLength / 2), type, into);
}

function halfAt(from: Uint8Array, at: number): number {
  return halfTable()[from[at]! | (from[at + 1]! << 8)]!;
}

// In a block of 32, byte i holds number i in its low and number i + 16 in its high four bits. Products of a half and few bits are
// exact, so each number is rounded once, when it is stored.

function q4_0(from: Uint8Array, into: Float32Array): void {
  for (let at = 0, out = 0; at < from.length; at += 18, out += 32) {
    const d = halfAt(from, at);
    for (let i = 0; i < 16; i++) {
      const byte = from[at + 2 + i]!;
      into[out + i] = d * ((byte & 15) - 8);
      into[out + i + 16] = d * ((byte >> 4) - 8);
    }
  }
}

function q4_1(from: Uint8Array, into: Float32Array): void {
  for (let at = 0, out = 0; at < from.length; at += 20, out += 32) {
    const d = halfAt(from, at);
    const least = halfAt(from, at + 2);
    for (let i = 0; i < 16; i++) {
      const byte = from[at + 4 + i]!;
      into[out + i] = d * (byte & 15) + least;
      into[out + i + 16] = d * (byte >> 4) + least;
    }
  }
}

/** The fifth bits of a block of 32: bit i of a little-endian word is number i's. */
function fifthBits(from: Uint8Array, at: number): number {
  return from[at]! | (from[at + 1]! << 8) | (from[at + 2]! << 16) | (from[at + 3]! << 24);
}

function q5_0(from: Uint8Array, into: Float32Array): void {
  for (let at = 0, out = 0; at < from.length; at += 22, out += 32) {
    const d = halfAt(from, at);
    const high = fifthBits(from, at + 2);
    for (let i = 0; i < 16; i++) {
      const byte = from[at + 6 + i]!;
      into[out + i] = d * (((byte & 15) | (((high >>> i) & 1) << 4)) - 16);
      into[out + i + 16] = d * (((byte >> 4) | (((high >>> (i + 16)) & 1) << 4)) - 16);
    }
  }
}

function q5_1(from: Uint8Array, into: Float32Array): void {
  for (let at = 0, out = 0; at < from.length; at += 24, out += 32) {
    const d = halfAt(from, at);
    const least = halfAt(from, at + 2);
    const high = fifthBits(from, at + 4);
    for (let i = 0; i < 16; i++) {
      const byte = from[at + 8 + i]!;
      into[out + i] = d * ((byte & 15) | (((high >>> i) & 1) << 4)) + least;
      into[out + i + 16] = d * ((byte >> 4) | (((high >>> (i + 16)) & 1) << 4)) + least;
    }
  }
}

function q8_0(from: Uint8Array, into: Float32Array): void {
  for (let at = 0, out = 0; at < from.length; at += 34, out += 32) {
    const d = halfAt(from, at);
    for (let i = 0; i < 32; i++) into[out + i] = d * signed(from[at + 2 + i]!);
  }
}

function signed(byte: number): number {
  return (byte << 24) >> 24;
}

/** Scale (`high` 0) or minimum (`high` 1) of part 0 to 7 of a K block: six bits each in twelve bytes. */
function sixBits(from: Uint8Array, at: number, part: number, high: 0 | 1): number {
  const own = from[at + 4 * high + (part & 3)]!;
  if (part < 4) return own & 63;
  const shared = from[at + 4 + part]!;
  return (high === 0 ? shared & 15 : shared >> 4) | ((own >> 2) & 48);
}

// A block of 256 has eight parts of 32 numbers; 32 bytes hold two parts, the first in their low four bits.

function q4_k(from: Uint8Array, into: Float32Array): void {
  for (let at = 0, out = 0; at < from.length; at += 144, out += 256) {
    const d = halfAt(from, at);
    const dLeast = halfAt(from, at + 2);
    for (let part = 0; part < 8; part++) {
      const step = d * sixBits(from, at + 4, part, 0);
      const least = dLeast * sixBits(from, at + 4, part, 1);
      const bytes = at + 16 + 32 * (part >> 1);
      const shift = 4 * (part & 1);
      for (let i = 0; i < 32; i++)
        into[out + 32 * part + i] = step * ((from[bytes + i]! >> shift) & 15) - least;
    }
  }
}

function q5_k(from: Uint8Array, into: Float32Array): void {
  for (let at = 0, out = 0; at < from.length; at += 176, out += 256) {
    const d = halfAt(from, at);
    const dLeast = halfAt(from, at + 2);
    for (let part = 0; part < 8; part++) {
      const step = d * sixBits(from, at + 4, part, 0);
      const least = dLeast * sixBits(from, at + 4, part, 1);
      const bytes = at + 48 + 32 * (part >> 1);
      const shift = 4 * (part & 1);
      for (let i = 0; i < 32; i++) {
        const fifth = (from[at + 16 + i]! >> part) & 1;
        into[out + 32 * part + i] =
          step * (((from[bytes + i]! >> shift) & 15) | (fifth << 4)) - least;
      }
    }
  }
}

/** Two halves of 128 numbers: 64 bytes with low four bits, 32 bytes with high two bits, and a scale for every 16 numbers. */
function q6_k(from: Uint8Array, into: Float32Array): void {
  for (let at = 0, out = 0; at < from.length; at += 210, out += 256) {
    const d = halfAt(from, at + 208);
    for (let i = 0; i < 256; i++) {
      const half = i >> 7;
      const part = (i >> 5) & 3;
      const low = from[at + 64 * half + 32 * (part & 1) + (i & 31)]! >> (4 * (part >> 1));
      const high = from[at + 128 + 32 * half + (i & 31)]! >> (2 * part);
      const step = d * signed(from[at + 192 + (i >> 4)]!);
      into[out + i] = step * (((low & 15) | ((high & 3) << 4)) - 32);
    }
  }
}

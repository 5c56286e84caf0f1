/** Converts between the storage dtypes of weights and float32. Little-endian, like the files and this processor. */
import { floatBitsToHalf, halfToFloat } from "../base/half.ts";

export const storedTypes = ["F32", "F16", "BF16"] as const;
export type StoredType = (typeof storedTypes)[number];

/** Names of the dtypes in `config.json`. */
export const torchTypes = { F32: "float32", F16: "float16", BF16: "bfloat16" } as const;

/** 16-bit numbers in host memory. */
export interface HalfNumbers {
  type: "F16" | "BF16";
  bits: Uint16Array;
}

/** Bytes per element of each safetensors dtype. */
export const widths: Readonly<Partial<Record<string, number>>> = {
  F64: 8,
  F32: 4,
  F16: 2,
  BF16: 2,
  F8_E4M3: 1,
  F8_E5M2: 1,
  I64: 8,
  I32: 4,
  I16: 2,
  I8: 1,
  U64: 8,
  U32: 4,
  U16: 2,
  U8: 1,
  BOOL: 1,
};

/** Table from half to float, created on first use: 65 536 numbers, 256 kB. */
let halves: Float32Array | null = null;

/**
 * Converts halves or bfloat16s to float32, exactly.
 * @param bits as many elements as `into`.
 */
export function widen(bits: Uint16Array, type: "F16" | "BF16", into: Float32Array): void {
  if (type === "BF16") {
    const whole = new Uint32Array(into.buffer, into.byteOffset, into.length);
    for (let i = 0; i < bits.length; i++) whole[i] = bits[i]! << 16;
    return;
  }
  const table = halfTable();
  for (let i = 0; i < bits.length; i++) into[i] = table[bits[i]!]!;
}

export function halfTable(): Float32Array {
  return (halves ??= Float32Array.from({ length: 65_536 }, (_, half) => halfToFloat(half)));
}

/** The bytes of numbers in a dtype, rounded to nearest, ties to even; NaN stays NaN. float32 is not copied. */
export function narrow(data: Float32Array, type: StoredType): Uint8Array {
  if (type === "F32") return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  const round = type === "F16" ? floatBitsToHalf : floatBitsToBfloat;
  const halves = new Uint16Array(data.length);
  for (let i = 0; i < bits.length; i++) halves[i] = round(bits[i]!);
  return new Uint8Array(halves.buffer);
}

function floatBitsToBfloat(bits: number): number {
  if ((bits & 0x7fff_ffff) > 0x7f80_0000) return 0x7fc0;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

/** Where a number's exponent lies in 32 bits, one float32 or two halves, and the lowest bit of it: a sum carries into the sign where all are ones. */
const EXPONENTS = {
  F32: { mask: 0x7f80_0000, unit: 0x0080_0000, signs: 0x8000_0000 | 0 },
  F16: { mask: 0x7c00_7c00, unit: 0x0400_0400, signs: 0x8000_8000 | 0 },
  BF16: { mask: 0x7f80_7f80, unit: 0x0080_0080, signs: 0x8000_8000 | 0 },
} as const;

/** Index of the first NaN or infinity; -1: every number is finite. @param numbers float32, or the bits of halves. */
export function firstNonFinite(numbers: Float32Array | Uint16Array, type: StoredType): number {
  const { mask, unit, signs } = EXPONENTS[type];
  const isFinite = (bits: number): boolean => (((bits & mask) + unit) & signs) === 0;
  const { buffer, byteOffset, byteLength } = numbers;
  if (byteOffset % 4 === 0) {
    const words = new Int32Array(buffer, byteOffset, byteLength >>> 2);
    let seen = 0;
    // Without a branch, for speed.
    for (let i = 0; i < words.length; i++) seen |= (words[i]! & mask) + unit;
    const rest = byteLength % 4 === 0 || isFinite(numbers.at(-1)!);
    if ((seen & signs) === 0 && rest) return -1;
  }
  if (numbers instanceof Float32Array) return numbers.findIndex((each) => !Number.isFinite(each));
  return numbers.findIndex((bits) => !isFinite(bits));
}

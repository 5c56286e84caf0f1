import type { FileHandle } from "node:fs/promises";
import { DataError } from "../../base/errors.ts";
import { refuseForeign } from "../../base/foreign-file.ts";
import { openFor, readFully, startOf } from "../read-fully.ts";
import { nonFinite } from "../safetensors.ts";
import { firstNonFinite } from "../stored-numbers.ts";
import { blockTypes, otherTypes, type BlockType } from "./block-types.ts";

/** An open GGUF file; tensors are read one by one. */
export interface GgufFile extends GgufHeader {
  readonly path: string;
  /**
   * Reads one tensor as float32, through a buffer of 256 KiB.
   * @param into array with as many elements as the tensor.
   * @throws {DataError} GGUF_BAD when the file was truncated after it was opened; WEIGHT_NOT_FINITE for NaN or an infinity.
   */
  read(name: string, into: Float32Array): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a GGUF file and checks its header against its size.
 * @throws {DataError} FILE_MISSING; GGUF_BAD when the file is truncated or damaged, or a tensor has an unsupported type.
 */
export function openGguf(path: string): Promise<GgufFile> {
  return openFor(path, async (file) => {
    const header = await readHeader(file, path);
    return {
      path,
      ...header,
      read: (name, into) => readTensor(file, path, header.tensors.get(name)!, into),
      close: () => file.close(),
    };
  });
}

function badGguf(path: string, what: string): DataError {
  return new DataError("GGUF_BAD", `${path}: ${what}. Download the file again, or choose another.`);
}

/** First bytes to read, and the most: vocabularies of 256 000 tokens with their merges need 20 MB. */
const FIRST = 2 ** 22;
const MOST = 2 ** 28;

async function readHeader(file: FileHandle, path: string): Promise<GgufHeader> {
  const { size } = await file.stat();
  const bad = (what: string): DataError => badGguf(path, what);
  refuseForeign(path, await startOf(file, path));
  for (let length = FIRST; ; length *= 4) {
    const bytes = Buffer.alloc(Math.min(length, size));
    await readFully(file, bytes, 0, bad);
    try {
      return parseGgufHeader(bytes, size, bad);
    } catch (error) {
      if (!(error instanceof HeaderContinues)) throw error;
      if (length >= MOST) throw bad(`is damaged: its metadata need more than ${MOST} bytes`);
    }
  }
}

/** Size of the read buffer, about. */
const PIECE = 2 ** 18;

async function readTensor(
  file: FileHandle,
  path: string,
  { name, shape, type, at, byteLength }: GgufTensor,
  into: Float32Array,
): Promise<void> {
  const { block, bytes, widen } = type;
  const blocks = Math.floor(PIECE / bytes);
  const piece = new Uint8Array(Math.min(blocks * bytes, byteLength));
  for (let done = 0; done < byteLength; done += piece.length) {
    const part = piece.subarray(0, Math.min(piece.length, byteLength - done));
    await readFully(file, part, at + done, (what) => badGguf(path, what));
    const first = (done / bytes) * block;
    widen(part, into.subarray(first, first + (part.length / bytes) * block));
  }
  const wrong = firstNonFinite(into, "F32");
  if (wrong >= 0) throw nonFinite(path, `"${name}" [${shape.join(", ")}] at index ${wrong}`);
}

/** The header of a GGUF file: metadata, and the places of its tensors. */

/** A value of the metadata. 64-bit integers beyond 2⁵³ lose precision. */
export type GgufValue = number | boolean | string | readonly GgufValue[];

export interface GgufTensor {
  readonly name: string;
  /** Outer axis first, as in safetensors; the file has the inner axis first. */
  readonly shape: readonly number[];
  readonly type: BlockType;
  /** Offset of its first byte in the file, and its number of bytes. */
  readonly at: number;
  readonly byteLength: number;
}

export interface GgufHeader {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: ReadonlyMap<string, GgufTensor>;
}

/** Thrown by `parseGgufHeader` when the header is longer than the given bytes, but not than the file. */
class HeaderContinues extends Error {}

/**
 * Parses and checks a header.
 *
 * @param bytes the start of the file.
 * @param bad makes an error from a sentence about the file.
 * @throws {HeaderContinues}
 *
 * Source: ggml's gguf.md, versions 2 and 3, little-endian.
 */
function parseGgufHeader(
  bytes: Buffer,
  fileSize: number,
  bad: (what: string) => DataError,
): GgufHeader {
  const cursor = new Cursor(bytes, fileSize, bad);
  const magic = cursor.take(4, "the magic number").toString("latin1");
  if (magic !== "GGUF") throw bad(`begins with ${JSON.stringify(magic)}, not with "GGUF"`);
  const version = cursor.u32("the version");
  if (version !== 2 && version !== 3) {
    const why = version === 0x0300_0000 || version === 0x0200_0000 ? " (big-endian)" : "";
    throw bad(`has version ${version}${why} at byte 4; supported: 2 and 3, little-endian`);
  }
  const tensorCount = cursor.u64("the number of tensors");
  const valueCount = cursor.u64("the number of metadata values");
  const metadata = new Map<string, GgufValue>();
  for (let i = 0; i < valueCount; i++) {
    const at = cursor.at;
    const key = cursor.text(`the key of metadata value ${i}`);
    if (metadata.has(key)) throw bad(`has the metadata key "${key}" twice, again at byte ${at}`);
    metadata.set(key, cursor.value(cursor.u32(`the type of "${key}"`), `"${key}"`));
  }
  const stored: StoredInfo[] = [];
  for (let i = 0; i < tensorCount; i++) stored.push(tensorAt(cursor, i, bad));
  return { metadata, tensors: placed(stored, metadata, { at: cursor.at, fileSize }, bad) };
}

interface StoredInfo extends Omit<GgufTensor, "at" | "byteLength"> {
  /** From the start of the tensors' data. */
  offset: number;
}

function tensorAt(cursor: Cursor, index: number, bad: (what: string) => DataError): StoredInfo {
  const name = cursor.text(`the name of tensor ${index}`);
  const axes = cursor.u32(`the number of axes of "${name}"`);
  if (axes > 4) throw bad(`"${name}" has ${axes} axes at byte ${cursor.at - 4}; at most 4`);
  const shape = Array.from({ length: axes }, () => cursor.u64(`an axis of "${name}"`)).reverse();
  const at = cursor.at;
  const number = cursor.u32(`the type of "${name}"`);
  const type = blockTypes.get(number);
  if (type === undefined) {
    const found = otherTypes.get(number) ?? `type ${number}`;
    const allowed = [...blockTypes.values()].map((each) => each.name).join(", ");
    throw bad(`"${name}" is ${found} (byte ${at}); supported: ${allowed}`);
  }
  const row = shape.at(-1) ?? 1;
  if (row % type.block !== 0)
    throw bad(
      `"${name}" [${shape.join(", ")}] is ${type.name}, but its rows of ${row} are not whole blocks of ${type.block}`,
    );
  return { name, shape, type, offset: cursor.u64(`the offset of "${name}"`) };
}

const DEFAULT_ALIGNMENT = 32;

/** Adds up the places: tensors follow each other, each aligned. */
function placed(
  stored: readonly StoredInfo[],
  metadata: ReadonlyMap<string, GgufValue>,
  { at: headerEnd, fileSize }: { at: number; fileSize: number },
  bad: (what: string) => DataError,
): Map<string, GgufTensor> {
  const alignment = metadata.get("general.alignment") ?? DEFAULT_ALIGNMENT;
  if (typeof alignment !== "number" || alignment <= 0 || alignment % 8 !== 0)
    throw bad(`has general.alignment ${String(alignment)}; expected a multiple of 8`);
  const aligned = (byte: number): number => Math.ceil(byte / alignment) * alignment;
  const start = aligned(headerEnd);
  const tensors = new Map<string, GgufTensor>();
  let next = 0;
  for (const { offset, ...tensor } of stored) {
    const { name, shape, type } = tensor;
    const byteLength = (shape.reduce((n, axis) => n * axis, 1) / type.block) * type.bytes;
    const at = start + offset;
    if (tensors.has(name)) throw bad(`contains "${name}" twice`);
    if (offset !== next)
      throw bad(
        `is damaged: "${name}" should start at byte ${start + next}, after the tensor before it, but its offset says ${at}`,
      );
    if (at + byteLength > fileSize)
      throw bad(
        `is truncated: "${name}" [${shape.join(", ")}] ${type.name} needs ${byteLength} bytes at byte ${at}, but the file ends at byte ${fileSize}`,
      );
    tensors.set(name, { ...tensor, at, byteLength });
    next = aligned(offset + byteLength);
  }
  return tensors;
}

const ARRAY = 9;
const STRING = 8;

/** Published files hold lists of numbers and texts, at most of lists; the longest are the merges of a vocabulary. */
const DEEPEST = 4;
const LONGEST = 2 ** 24;

class Cursor {
  at = 0;
  private readonly bytes: Buffer;
  private readonly fileSize: number;
  private readonly bad: (what: string) => DataError;

  constructor(bytes: Buffer, fileSize: number, bad: (what: string) => DataError) {
    this.bytes = bytes;
    this.fileSize = fileSize;
    this.bad = bad;
  }

  /** Moves on by a number of bytes. @returns where they are. */
  private step(length: number, what: string): number {
    const at = this.at;
    if (at + length > this.fileSize)
      throw this.bad(
        `is truncated or damaged: ${what} needs ${length} bytes at byte ${at}, but the file ends at byte ${this.fileSize}`,
      );
    if (at + length > this.bytes.length) throw new HeaderContinues();
    this.at += length;
    return at;
  }

  take(length: number, what: string): Buffer {
    const at = this.step(length, what);
    return this.bytes.subarray(at, at + length);
  }

  u32(what: string): number {
    return this.bytes.readUInt32LE(this.step(4, what));
  }

  u64(what: string): number {
    return Number(this.bytes.readBigUInt64LE(this.step(8, what)));
  }

  text(what: string): string {
    return this.take(this.u64(what), what).toString("utf8");
  }

  value(type: number, what: string, depth = 0): GgufValue {
    if (type === STRING) return this.text(what);
    if (type === ARRAY) return this.values(what, depth + 1);
    const scalar = scalars[type];
    if (scalar !== undefined) return scalar.read(this.bytes, this.step(scalar.bytes, what));
    throw this.bad(`${what} has the unknown value type ${type} at byte ${this.at - 4}`);
  }

  private values(what: string, depth: number): GgufValue[] {
    if (depth > DEEPEST) throw this.bad(`${what} nests lists more than ${DEEPEST} deep`);
    const type = this.u32(what);
    const count = this.u64(what);
    // The least that so many values need: a damaged count is not allocated.
    const least = count * (scalars[type]?.bytes ?? 8);
    if (this.at + least > this.fileSize) this.step(least, what);
    if (count > LONGEST) throw this.bad(`${what} has ${count} values; at most ${LONGEST}`);
    const all: GgufValue[] = [];
    for (let i = 0; i < count; i++) all.push(this.value(type, what, depth));
    return all;
  }
}

type Scalar = { bytes: number; read: (bytes: Buffer, at: number) => number | boolean };

/** Value types that have one size, by their number in the file. */
const scalars: Readonly<Partial<Record<number, Scalar>>> = {
  0: { bytes: 1, read: (bytes, at) => bytes.readUInt8(at) },
  1: { bytes: 1, read: (bytes, at) => bytes.readInt8(at) },
  2: { bytes: 2, read: (bytes, at) => bytes.readUInt16LE(at) },
  3: { bytes: 2, read: (bytes, at) => bytes.readInt16LE(at) },
  4: { bytes: 4, read: (bytes, at) => bytes.readUInt32LE(at) },
  5: { bytes: 4, read: (bytes, at) => bytes.readInt32LE(at) },
  6: { bytes: 4, read: (bytes, at) => bytes.readFloatLE(at) },
  7: { bytes: 1, read: (bytes, at) => bytes.readUInt8(at) !== 0 },
  10: { bytes: 8, read: (bytes, at) => Number(bytes.readBigUInt64LE(at)) },
  11: { bytes: 8, read: (bytes, at) => Number(bytes.readBigInt64LE(at)) },
  12: { bytes: 8, read: (bytes, at) => bytes.readDoubleLE(at) },
};

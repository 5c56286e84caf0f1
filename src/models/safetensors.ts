import type { FileHandle } from "node:fs/promises";
import { writeAtomic } from "../base/files.ts";
import { DataError } from "../base/errors.ts";
import { refuseForeign } from "../base/foreign-file.ts";
import { openFor, readFully, startOf } from "./read-fully.ts";
import { parseHeader, type StoredTensor } from "./safetensors-header.ts";
import {
  firstNonFinite,
  narrow,
  storedTypes,
  widen,
  type HalfNumbers,
  type StoredType,
} from "./stored-numbers.ts";

export interface NamedTensor {
  name: string;
  shape: readonly number[];
  data: Float32Array;
}

/** An open safetensors file; tensors are read one by one. */
export interface SafetensorsFile {
  readonly path: string;
  /** By name, in the order of the header. */
  readonly tensors: ReadonlyMap<string, StoredTensor>;
  /**
   * Reads one tensor as float32. F32 is read directly into `into`; F16 and BF16 go through a buffer of 256 KiB.
   * @param into array with as many elements as the tensor.
   * @throws {DataError} SAFETENSORS_BAD for another dtype, or when the file was truncated after it was opened;
   *   WEIGHT_NOT_FINITE for NaN or an infinity.
   */
  read(name: string, into: Float32Array): Promise<void>;
  /**
   * Reads one tensor in 16 bits: unchanged if stored in this dtype, else rounded to nearest, through a buffer of 256 KiB.
   * @param into array with as many elements as the tensor.
   * @throws {DataError} WEIGHT_TOO_LARGE for a number beyond the dtype's range; as `read`.
   */
  readHalf(name: string, into: HalfNumbers): Promise<void>;
  close(): Promise<void>;
}

/**
 * Opens a safetensors file and checks its header against its size.
 * @throws {DataError} FILE_MISSING; SAFETENSORS_BAD when the file is truncated or too long, its header is invalid, or
 *   tensors overlap or leave gaps.
 *
 * Source: the format's specification (huggingface/safetensors, README); its reader rejects the same files.
 */
export function openSafetensors(path: string): Promise<SafetensorsFile> {
  return openFor(path, async (file) => {
    const tensors = await readHeader(file, path);
    return {
      path,
      tensors,
      read: (name, into) => readTensor(file, path, tensors.get(name)!, into),
      readHalf: (name, into) => readHalfTensor(file, path, tensors.get(name)!, into),
      close: () => file.close(),
    };
  });
}

/**
 * Reads a whole safetensors file; F16 and BF16 are widened to float32.
 * @throws {DataError} as `openSafetensors`, and SAFETENSORS_BAD for a dtype other than F32, F16 or BF16.
 */
export async function readSafetensors(path: string): Promise<Map<string, NamedTensor>> {
  const file = await openSafetensors(path);
  try {
    const tensors = new Map<string, NamedTensor>();
    for (const { name, shape } of file.tensors.values()) {
      const data = new Float32Array(shape.reduce((n, axis) => n * axis, 1));
      await file.read(name, data);
      tensors.set(name, { name, shape, data });
    }
    return tensors;
  } finally {
    await file.close();
  }
}

/**
 * Writes a safetensors file atomically.
 * @param metadata free strings, stored as `__metadata__`.
 * @throws {DataError} WEIGHT_NOT_FINITE for NaN or an infinity; WEIGHT_TOO_LARGE for a number beyond the dtype's range.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function writeSafetensors(
  path: string,
  tensors: readonly NamedTensor[],
  dtype: StoredType,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  const sources = tensors.map(({ name, shape, data }) => {
    return { name, shape, dtype, load: () => Promise.resolve(data) };
  });
  await streamSafetensors(path, sources, metadata);
}

/** A tensor that is loaded when its turn to be written comes. */
export interface TensorSource {
  name: string;
  shape: readonly number[];
  dtype: StoredType;
  load: () => Promise<Float32Array>;
}

/**
 * `writeSafetensors` with one tensor in memory at a time.
 * @throws as `writeSafetensors`, and what `load` throws.
 */
export async function streamSafetensors(
  path: string,
  tensors: readonly TensorSource[],
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  let at = 0;
  const entries = tensors.map(({ name, shape, dtype }) => {
    const begin = at;
    at += shape.reduce((n, axis) => n * axis, dtype === "F32" ? 4 : 2);
    return [name, { dtype, shape, data_offsets: [begin, at] }];
  });
  const json = JSON.stringify({
    __metadata__: { format: "pt", ...metadata },
    ...(Object.fromEntries(entries) as object),
  });
  const length = Buffer.byteLength(json);
  const header = Buffer.from(json + " ".repeat(Math.ceil(length / 8) * 8 - length));
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(header.length));
  await writeAtomic(path, async (write) => {
    await write(prefix);
    await write(header);
    for (const { name, dtype, load } of tensors)
      await write(narrowed(path, name, await load(), dtype));
  });
}

function bad(path: string, what: string, cause?: unknown): DataError {
  return new DataError("SAFETENSORS_BAD", `${path}: ${what}. Download or save the file again.`, {
    cause,
  });
}

/** As the format's own reader allows. */
const LONGEST_HEADER = 100_000_000;

async function readHeader(file: FileHandle, path: string): Promise<Map<string, StoredTensor>> {
  const { size } = await file.stat();
  const start = await startOf(file, path);
  refuseForeign(path, start);
  const headerSize = Number(start.readBigUInt64LE());
  if (size < 8 || headerSize > size - 8)
    throw bad(path, `is truncated: ${size} bytes are too short for its header`);
  if (headerSize > LONGEST_HEADER)
    throw bad(path, `is damaged: its header of ${headerSize} bytes exceeds ${LONGEST_HEADER}`);
  const header = Buffer.alloc(headerSize);
  await fill(file, path, header, 8);
  return parseHeader(header, size, (what, cause) => bad(path, what, cause));
}

/** Size of a read buffer: small, because each tensor has its own, and garbage collection is late. */
const PIECE = 2 ** 18;

function typeOf({ name, dtype }: StoredTensor, path: string): StoredType {
  const type = storedTypes.find((each) => each === dtype);
  if (type === undefined) throw bad(path, `"${name}" is ${dtype}; supported: F32, F16, BF16`);
  return type;
}

/** @param from the first element to read. */
async function readTensor(
  file: FileHandle,
  path: string,
  stored: StoredTensor,
  into: Float32Array,
  from = 0,
): Promise<void> {
  const type = typeOf(stored, path);
  if (type === "F32") {
    const bytes = new Uint8Array(into.buffer, into.byteOffset, into.byteLength);
    await fill(file, path, bytes, stored.at + 4 * from);
    refuseNonFinite(path, stored, into, from);
    return;
  }
  const piece = new Uint16Array(Math.min(PIECE / 2, into.length));
  for (let done = 0; done < into.length; done += piece.length) {
    const bits = piece.subarray(0, Math.min(piece.length, into.length - done));
    const bytes = new Uint8Array(bits.buffer, 0, bits.byteLength);
    await fill(file, path, bytes, stored.at + 2 * (from + done));
    refuseNonFinite(path, stored, bits, from + done);
    widen(bits, type, into.subarray(done, done + bits.length));
  }
}

async function readHalfTensor(
  file: FileHandle,
  path: string,
  stored: StoredTensor,
  { type, bits }: HalfNumbers,
): Promise<void> {
  if (typeOf(stored, path) === type) {
    const bytes = new Uint8Array(bits.buffer, bits.byteOffset, bits.byteLength);
    await fill(file, path, bytes, stored.at);
    refuseNonFinite(path, stored, bits, 0);
    return;
  }
  const whole = new Float32Array(Math.min(PIECE / 4, bits.length));
  for (let done = 0; done < bits.length; done += whole.length) {
    const piece = whole.subarray(0, Math.min(whole.length, bits.length - done));
    await readTensor(file, path, stored, piece, done);
    bits.set(new Uint16Array(narrowed(path, stored.name, piece, type).buffer), done);
  }
}

/** @param numbers of the tensor's dtype. @param from index of the first of them in the tensor. */
function refuseNonFinite(
  path: string,
  { name, dtype, shape }: StoredTensor,
  numbers: Float32Array | Uint16Array,
  from: number,
): void {
  const at = firstNonFinite(numbers, dtype as StoredType);
  if (at >= 0) throw nonFinite(path, `"${name}" [${shape.join(", ")}] at index ${from + at}`);
}

/** WEIGHT_NOT_FINITE. @param where the weight in its file. */
export function nonFinite(path: string, where: string): DataError {
  return new DataError(
    "WEIGHT_NOT_FINITE",
    `${path}: ${where} is NaN or infinite, so whatever the model computes is meaningless. Download the file again, or take an earlier checkpoint.`,
  );
}

/** As `narrow`. @throws {DataError} WEIGHT_NOT_FINITE; WEIGHT_TOO_LARGE for a number that would become infinite. */
function narrowed(path: string, name: string, data: Float32Array, type: StoredType): Uint8Array {
  const bytes = narrow(data, type);
  const at = firstNonFinite(type === "F32" ? data : new Uint16Array(bytes.buffer), type);
  if (at < 0) return bytes;
  if (!Number.isFinite(data[at]))
    throw new DataError(
      "WEIGHT_NOT_FINITE",
      `${path}: "${name}" is NaN or infinite at index ${at}, so it is not written. If the model was trained, training diverged: continue from an earlier checkpoint with a lower learning rate.`,
    );
  const [dtype, largest, wider] =
    type === "F16"
      ? ["float16", "65504", "bfloat16 or float32"]
      : ["bfloat16", "3.39e38", "float32"];
  throw new DataError(
    "WEIGHT_TOO_LARGE",
    `${path}: "${name}" contains ${data[at]!}, but the largest ${dtype} number is ${largest}. Use ${wider} (frozen weights: engine.frozenWeights; a conversion: --dtype).`,
  );
}

function fill(file: FileHandle, path: string, bytes: Uint8Array, position: number): Promise<void> {
  return readFully(file, bytes, position, (what) => bad(path, what));
}

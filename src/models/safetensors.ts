import { open } from "node:fs/promises";
import { writeAtomic } from "../base/files.ts";
import { DataError, errorMessage } from "../base/errors.ts";
import { floatToHalf, halfToFloat } from "../base/half.ts";
import { z } from "../base/schema.ts";

/** A named tensor on the host. */
export interface NamedTensor {
  name: string;
  shape: readonly number[];
  data: Float32Array;
}

export type StoredType = "F32" | "F16" | "BF16";

const headerSchema = z
  .object({ __metadata__: z.record(z.string(), z.string()).optional() })
  .catchall(
    z.object({
      dtype: z.string(),
      shape: z.array(z.int().nonnegative()),
      data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
    }),
  );
const widths: Readonly<Record<string, number>> = { F32: 4, F16: 2, BF16: 2 };

/**
 * Reads a safetensors file; F16 and BF16 are widened to float32.
 * @throws {DataError} SAFETENSORS_BAD when the file is cut, its header is no header, or a type is not F32, F16 or BF16.
 */
export async function readSafetensors(path: string): Promise<Map<string, NamedTensor>> {
  const bad = (what: string, cause?: unknown): DataError =>
    new DataError("SAFETENSORS_BAD", `${path}: ${what}. Fetch or save the file again.`, { cause });
  const file = await open(path).catch((error: unknown) => {
    throw new DataError("FILE_MISSING", `${path}: cannot be read (${errorMessage(error)}).`, {
      cause: error,
    });
  });
  try {
    const { size } = await file.stat();
    const prefix = Buffer.alloc(8);
    await file.read(prefix, 0, 8, 0);
    const headerSize = Number(prefix.readBigUInt64LE());
    if (size < 8 || headerSize > size - 8)
      throw bad(`is cut: ${size} bytes cannot hold its header`);
    const headerBytes = Buffer.alloc(headerSize);
    await file.read(headerBytes, 0, headerSize, 8);
    let header: z.output<typeof headerSchema>;
    try {
      header = headerSchema.parse(JSON.parse(headerBytes.toString("utf8")));
    } catch (error) {
      throw bad("its header is not a safetensors header", error);
    }
    const tensors = new Map<string, NamedTensor>();
    const { __metadata__: _, ...entries } = header;
    for (const [name, { dtype, shape, data_offsets }] of Object.entries(entries)) {
      const [begin, end] = data_offsets;
      const width = widths[dtype];
      const count = shape.reduce((n, axis) => n * axis, 1);
      if (width === undefined) throw bad(`"${name}" is ${dtype}; F32, F16 and BF16 are read`);
      if (end - begin !== count * width || 8 + headerSize + end > size) {
        throw bad(
          `is cut or damaged: "${name}" [${shape.join(", ")}] wants ${count * width} bytes at ${begin}`,
        );
      }
      const bytes = Buffer.alloc(end - begin);
      await file.read(bytes, 0, bytes.length, 8 + headerSize + begin);
      tensors.set(name, { name, shape, data: widen(bytes, dtype as StoredType) });
    }
    return tensors;
  } finally {
    await file.close();
  }
}

/**
 * Writes a safetensors file, whole or not at all.
 * @param metadata free strings, kept under `__metadata__`.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function writeSafetensors(
  path: string,
  tensors: readonly NamedTensor[],
  dtype: StoredType,
  metadata: Readonly<Record<string, string>> = {},
): Promise<void> {
  const width = dtype === "F32" ? 4 : 2;
  let at = 0;
  const entries = tensors.map(({ name, shape, data }) => {
    const begin = at;
    at += data.length * width;
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
    for (const { data } of tensors) await write(narrow(data, dtype));
  });
}

function widen(bytes: Buffer, dtype: StoredType): Float32Array {
  if (dtype === "F32") {
    return new Float32Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length));
  }
  const halves = new Uint16Array(
    bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length),
  );
  return Float32Array.from(halves, dtype === "BF16" ? bfloatToFloat : halfToFloat);
}

function narrow(data: Float32Array, dtype: StoredType): Uint8Array {
  if (dtype === "F32") return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  const halves = Uint16Array.from(data, dtype === "BF16" ? floatToBfloat : floatToHalf);
  return new Uint8Array(halves.buffer);
}

const scratch = new DataView(new ArrayBuffer(4));

function bitsOf(value: number): number {
  scratch.setFloat32(0, value);
  return scratch.getUint32(0);
}

function fromBits(bits: number): number {
  scratch.setUint32(0, bits);
  return scratch.getFloat32(0);
}

function bfloatToFloat(bits: number): number {
  return fromBits(bits << 16);
}

/** Rounds to nearest, ties to even; NaN stays NaN. */
function floatToBfloat(value: number): number {
  const bits = bitsOf(value);
  if (Number.isNaN(value)) return 0x7fc0;
  return (bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16;
}

import { z } from "../base/schema.ts";
import type { DataError } from "../base/errors.ts";
import { widths } from "./stored-numbers.ts";

/** Where one tensor lies in a safetensors file. */
export interface StoredTensor {
  name: string;
  /** As the file says: F32, F16, BF16 or a type that is not read here. */
  dtype: string;
  shape: readonly number[];
  /** Its first byte, counted from the beginning of the file, and how many it has. */
  at: number;
  byteLength: number;
}

const schema = z.object({ __metadata__: z.record(z.string(), z.string()).optional() }).catchall(
  z.object({
    dtype: z.string(),
    shape: z.array(z.int().nonnegative()),
    data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
  }),
);

/**
 * What a header says of a file of that size.
 * @param header the JSON's bytes, which stand after the eight of its length.
 * @param bad makes the error of a sentence about the file.
 */
export function parseHeader(
  header: Buffer,
  fileSize: number,
  bad: (what: string, cause?: unknown) => DataError,
): Map<string, StoredTensor> {
  let entries: Omit<z.output<typeof schema>, "__metadata__">;
  try {
    const { __metadata__: _, ...rest } = schema.parse(JSON.parse(header.toString("utf8")));
    entries = rest;
  } catch (error) {
    throw bad("its header is not a safetensors header", error);
  }
  const start = 8 + header.length;
  const tensors = new Map<string, StoredTensor>();
  for (const [name, { dtype, shape, data_offsets }] of Object.entries(entries)) {
    const [begin, end] = data_offsets;
    const width = widths[dtype];
    if (width === undefined) throw bad(`"${name}" is ${dtype}; F32, F16 and BF16 are read`);
    const byteLength = shape.reduce((n, axis) => n * axis, width);
    if (end - begin !== byteLength || start + end > fileSize) {
      throw bad(
        `is cut or damaged: "${name}" [${shape.join(", ")}] wants ${byteLength} bytes at ${begin}`,
      );
    }
    tensors.set(name, { name, dtype, shape, at: start + begin, byteLength });
  }
  refuseGaps([...tensors.values()], start, fileSize, bad);
  return tensors;
}

/** Tensors must fill the file: none over another, nothing between or after them. */
function refuseGaps(
  tensors: readonly StoredTensor[],
  start: number,
  fileSize: number,
  bad: (what: string) => DataError,
): void {
  let last: Pick<StoredTensor, "name" | "at" | "byteLength"> = {
    ...{ name: "the header", at: start, byteLength: 0 },
  };
  for (const tensor of tensors.toSorted((a, b) => a.at - b.at || a.byteLength - b.byteLength)) {
    const end = last.at + last.byteLength;
    if (tensor.at < end) {
      throw bad(
        `its header is damaged: "${tensor.name}" at byte ${tensor.at} overlaps "${last.name}", which ends at ${end}`,
      );
    }
    if (tensor.at > end) {
      throw bad(`its header is damaged: bytes ${end} to ${tensor.at} belong to no tensor`);
    }
    last = tensor;
  }
  const end = last.at + last.byteLength;
  if (end < fileSize) throw bad(`is damaged: bytes ${end} to ${fileSize} belong to no tensor`);
}

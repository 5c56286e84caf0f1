import { z } from "../base/schema.ts";
import type { DataError } from "../base/errors.ts";
import { widths } from "./stored-numbers.ts";

export interface StoredTensor {
  name: string;
  /** As in the file: F32, F16, BF16 or an unsupported dtype. */
  dtype: string;
  shape: readonly number[];
  /** Offset of its first byte in the file, and its number of bytes. */
  at: number;
  byteLength: number;
}

const schema = z
  .object({ __metadata__: z.record(z.string(), z.string()).optional() })
  .catchall(
    z.object({
      dtype: z.string(),
      shape: z.array(z.int().nonnegative()),
      data_offsets: z.tuple([z.int().nonnegative(), z.int().nonnegative()]),
    }),
  );

/**
 * Parses and checks a header.
 * @param header the JSON's bytes, which follow the eight bytes of its length.
 * @param bad makes an error from a sentence about the file.
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
    if (width === undefined) throw bad(`"${name}" is ${dtype}; supported: F32, F16, BF16`);
    const byteLength = shape.reduce((n, axis) => n * axis, width);
    if (end - begin !== byteLength || start + end > fileSize)
      throw bad(
        `is cut or damaged: "${name}" [${shape.join(", ")}] needs ${byteLength} bytes at ${begin}`,
      );
    tensors.set(name, { name, dtype, shape, at: start + begin, byteLength });
  }
  refuseGaps([...tensors.values()], start, fileSize, bad);
  return tensors;
}

/** Tensors must fill the file without overlaps and gaps. */
function refuseGaps(
  tensors: readonly StoredTensor[],
  start: number,
  fileSize: number,
  bad: (what: string) => DataError,
): void {
  let last: Pick<StoredTensor, "name" | "at" | "byteLength"> = {
    name: "the header",
    at: start,
    byteLength: 0,
  };
  for (const tensor of tensors.toSorted((a, b) => a.at - b.at || a.byteLength - b.byteLength)) {
    const end = last.at + last.byteLength;
    if (tensor.at < end)
      throw bad(
        `its header is damaged: "${tensor.name}" at byte ${tensor.at} overlaps "${last.name}", which ends at ${end}`,
      );
    if (tensor.at > end)
      throw bad(`its header is damaged: bytes ${end} to ${tensor.at} belong to no tensor`);
    last = tensor;
  }
  const end = last.at + last.byteLength;
  if (end < fileSize) throw bad(`is damaged: bytes ${end} to ${fileSize} belong to no tensor`);
}

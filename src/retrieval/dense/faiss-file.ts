/** Flat indexes of FAISS, read as `faiss.write_index` writes them: a header, then all vectors as f32 in the order of their passages. */
import { type FileHandle, open } from "node:fs/promises";
import { DataError } from "../../base/errors.ts";
import { unreadable } from "../../base/files.ts";
import { fileFormat, refuseForeign, TELLING_BYTES } from "../../base/foreign-file.ts";
import type { Metric } from "./vector-format.ts";

/** A flat index in a file. */
export interface FaissFile {
  /** N. */
  count: number;
  /** D. */
  dimensions: number;
  metric: Metric;
  /** Byte at which the vectors begin: N·D numbers of f32, little-endian. */
  offset: number;
}

/** FAISS's number of a metric. Others are refused. */
const METRIC_OF: readonly Metric[] = ["inner-product", "l2"];

/** Bytes of any index's header; a metric above 1 has an argument of 4 more. */
const HEADER_BYTES = 37;

const GZIP = 0x1f8b;

const FLAT = ["IxFI", "IxF2", "IxFl"];
const ID_MAPS = ["IxMp", "IxM2"];

/** Names of other indexes by their first four bytes; the first match counts. */
const OTHERS: readonly [pattern: RegExp, name: string][] = [
  [/^IHN/, "an HNSW graph (IndexHNSW)"],
  [/^INS/, "an NSG graph (IndexNSG)"],
  [/^IBw|^I[vw]/, "an inverted file (IndexIVF)"],
  [/^IB/, "an index of binary vectors"],
  [/^IxP[QqoO]|^IPfs/, "product-quantized (IndexPQ)"],
  [/^IxS[Q8q]/, "scalar-quantized (IndexScalarQuantizer)"],
  [/^Ix(Rq|rq|LS)|^Ixrq/, "additively quantized"],
  [/^IxHe/, "locality-sensitive hashes (IndexLSH)"],
  [/^IxPT/, "an index behind a transformation (IndexPreTransform)"],
  [/^IxRF/, "two indexes, one that refines (IndexRefine)"],
];

const ALLOWED =
  "Allowed are IndexFlatIP and IndexFlatL2, also inside of IndexIDMap with the ids 0, 1, 2 …";

/**
 * Reads and checks the header, the length of the file and the ids of an IndexIDMap; not the vectors.
 *
 * The layout was checked against files of faiss-cpu 1.15.1 (test/golden/faiss-flat.py). Ids that are not the positions 0 … N − 1 in order are refused, because
 * a passage's position in the corpus is its vector's position.
 *
 * @throws {DataError} INDEX_FAISS for another kind of index, another metric, a file that is too short or too long, other ids; FILE_MISSING; FILE_FORMAT for
 *   a Git LFS pointer, an archive and the like.
 */
export async function readFaissFile(path: string): Promise<FaissFile> {
  const file = await open(path).catch((error: unknown) => {
    throw unreadable(path, error);
  });
  try {
    const start = Buffer.alloc(TELLING_BYTES);
    const { bytesRead } = await file.read(start, 0, TELLING_BYTES, 0).catch((error: unknown) => {
      throw unreadable(path, error);
    });
    const { size } = await file.stat();
    if (start.readUInt16BE() === GZIP)
      throw fileFormat(path, "is compressed by gzip", `Unpack it first: gunzip ${path}.`);
    refuseForeign(path, start.subarray(0, bytesRead));
    const outer = fourBytes(start, 0);
    const mapped = ID_MAPS.includes(outer);
    const at = mapped ? HEADER_BYTES : 0;
    const inner = fourBytes(start, at);
    if (!FLAT.includes(inner)) throw otherIndex(path, inner, mapped ? outer : null);
    const found = readHeader(path, start, at);
    const wanted = found.offset + vectorBytes(found) + (mapped ? 8 + 8 * found.count : 0);
    if (size !== wanted) throw wrongSize(path, found, { size, wanted });
    if (mapped) await checkIds(path, file, found);
    return found;
  } finally {
    await file.close();
  }
}

/** Bytes of all vectors. */
export function vectorBytes({
  count,
  dimensions,
}: Pick<FaissFile, "count" | "dimensions">): number {
  return 4 * count * dimensions;
}

/** Problem of a FAISS file. */
export function faissProblem(where: string, what: string, advice: string): DataError {
  return new DataError("INDEX_FAISS", `${where}: ${what}. ${advice}`);
}

function fourBytes(start: Buffer, at: number): string {
  return start.toString("latin1", at, at + 4);
}

/** After the type: D (i32), N (i64), two unused i64, is_trained (byte), metric (i32); then of a flat index: how many numbers follow (u64). */
function readHeader(path: string, start: Buffer, at: number): FaissFile {
  const dimensions = start.readInt32LE(at + 4);
  const count = Number(start.readBigInt64LE(at + 8));
  const number = start.readInt32LE(at + 33);
  const metric = METRIC_OF[number];
  if (metric === undefined)
    throw faissProblem(
      path,
      `its vectors are compared by metric ${number}`,
      "Allowed are METRIC_INNER_PRODUCT (0) and METRIC_L2 (1). Write the vectors into an IndexFlatIP or IndexFlatL2.",
    );
  const numbers = Number(start.readBigUInt64LE(at + HEADER_BYTES));
  const found = { dimensions, count, metric, offset: at + HEADER_BYTES + 8 };
  if (dimensions >= 1 && count >= 1 && numbers === count * dimensions) return found;
  throw faissProblem(
    path,
    `its header says ${count} vectors of ${dimensions} dimensions and ${numbers} numbers`,
    "Expected are as many numbers as vectors times dimensions, at least one. Download the file again, or write it with faiss.write_index.",
  );
}

function otherIndex(path: string, inner: string, outer: string | null): DataError {
  const name = OTHERS.find(([pattern]) => pattern.test(inner))?.[1];
  const type = JSON.stringify(inner);
  const where = outer === null ? "" : ` inside of ${JSON.stringify(outer)}, an IndexIDMap`;
  if (name !== undefined)
    return faissProblem(
      path,
      `is of FAISS's type ${type}${where}: ${name}`,
      `${ALLOWED}. Use the publisher's flat index, or serve this one with its own server: { name: search-r1-server, url: … }.`,
    );
  return faissProblem(
    path,
    `begins with ${type}${where}, which is no type of index that is known here`,
    `${ALLOWED}. A file that was published in parts is joined first, in order: cat part_aa part_ab > FILE.`,
  );
}

function wrongSize(
  path: string,
  { count, dimensions }: FaissFile,
  { size, wanted }: { size: number; wanted: number },
): DataError {
  const shape = `${count} vectors of ${dimensions} dimensions take ${wanted} bytes`;
  return size < wanted
    ? faissProblem(
        path,
        `ends at byte ${size}, and its ${shape}`,
        "Download the rest; a file that was published in parts is joined in order: cat part_aa part_ab > FILE.",
      )
    : faissProblem(
        path,
        `has ${size} bytes, and its ${shape}`,
        "Download it again, or write it with faiss.write_index.",
      );
}

/** Ids that are read at once. */
const ID_BLOCK = 1 << 17;

async function checkIds(path: string, file: FileHandle, found: FaissFile): Promise<void> {
  const from = found.offset + vectorBytes(found);
  const block = Buffer.alloc(8 * ID_BLOCK);
  await file.read(block, 0, 8, from);
  const ids = block.readBigUInt64LE();
  if (ids !== BigInt(found.count))
    throw faissProblem(
      path,
      `has ${ids} ids for ${found.count} vectors`,
      "Write it again with faiss.write_index.",
    );
  for (let at = 0; at < found.count; at += ID_BLOCK) {
    const count = Math.min(ID_BLOCK, found.count - at);
    await readFully(path, file, block.subarray(0, 8 * count), from + 8 + 8 * at);
    for (let i = 0; i < count; i++) {
      const id = block.readBigInt64LE(8 * i);
      if (id === BigInt(at + i)) continue;
      throw faissProblem(
        path,
        `vector ${at + i} has the id ${id}`,
        `${ALLOWED}: the n-th vector is that of the n-th passage. Write the vectors into an IndexFlat in the order of the corpus.`,
      );
    }
  }
}

async function readFully(
  path: string,
  file: FileHandle,
  into: Buffer,
  position: number,
): Promise<void> {
  for (let done = 0; done < into.length;) {
    const { bytesRead } = await file.read(into, done, into.length - done, position + done);
    if (bytesRead === 0)
      throw faissProblem(path, `ends at byte ${position + done}`, "Download it again.");
    done += bytesRead;
  }
}

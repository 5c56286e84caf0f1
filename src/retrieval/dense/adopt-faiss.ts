import { type FileHandle, open } from "node:fs/promises";
import { join, resolve } from "node:path";
import { DataError } from "../../base/errors.ts";
import { random } from "../../base/random.ts";
import type { Passage } from "../../trajectory/task.ts";
import { writePageTable } from "../store/checked-file.ts";
import { INDEX_VERSION, writeIndexFolder, writeManifest } from "../store/index-folder.ts";
import { type PassageStore, searchedText } from "../store/passage-file.ts";
import { type BuildDenseOptions, writePassages } from "./build-dense-index.ts";
import { type DenseManifest, FAISS_TABLE } from "./dense-manifest.ts";
import type { Encoder } from "./encoder.ts";
import { type FaissFile, faissProblem, readFaissFile, vectorBytes } from "./faiss-file.ts";

/** Options of `adoptFaiss`. */
interface AdoptOptions extends Pick<
  BuildDenseOptions,
  "encoder" | "overwrite" | "source" | "signal"
> {
  /** The FAISS file; it stays where it is. */
  faiss: string;
  /** @param total 0 while it is not known. */
  onProgress?: (phase: "passages" | "vectors", done: number, total: number) => void;
}

/** Sampled passages, encoded again, beside their vectors in a file. */
export interface Agreement {
  sampled: number;
  /** Of them: passages whose vector is the most similar one of the sample. */
  own: number;
  /** Mean cosine of both vectors of a passage; near 1: the encoder, its settings and the text are those of the file. */
  cosine: number;
}

/**
 * Makes a dense index folder of a corpus and a flat FAISS index of its passages, in the same order. The vectors are not copied: the folder has the
 * passages, a checksum of each 4 096 bytes of vectors and the path of the file. Every vector is read once.
 *
 * Sampled passages are encoded again: most must be nearest to their own vector, or else file, corpus and encoder do not belong together.
 *
 * @throws {DataError} INDEX_FAISS as `readFaissFile`, or when vectors and passages differ in number, a vector has a number that is not finite, or the sample
 *   fails; INDEX_ENCODER when the encoder's dimensions differ; CORPUS_EMPTY, CORPUS_DUPLICATE_ID, what `passages` throws.
 * @throws {ConfigError} INDEX_EXISTS. @throws {ExternalError} FILE_WRITE_FAILED.
 */
export async function adoptFaiss(
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  out: string,
  options: AdoptOptions,
): Promise<{ manifest: DenseManifest; agreement: Agreement }> {
  const { encoder, overwrite = false, source = "corpus", signal, onProgress } = options;
  const path = resolve(options.faiss);
  const found = await readFaissFile(path);
  requireDimensions(path, found, encoder);
  return writeIndexFolder(out, { overwrite, signal }, async (folder) => {
    onProgress?.("passages", 0, 0);
    const written = await writePassages(folder, passages, { source, signal });
    try {
      const { count } = written.passages;
      if (count !== found.count)
        throw faissProblem(
          path,
          `has ${found.count} vectors, and ${source} has ${count} passages`,
          "Vectors and passages must be equally many, in the same order. Name the corpus file that was published with the index.",
        );
      const agreement = await compareSample(path, found, {
        encoder,
        passages: written.passages,
        signal,
      });
      requireAgreement(path, agreement, source);
      const file = await writePageTable(
        path,
        { offset: found.offset, table: join(folder, FAISS_TABLE) },
        {
          bytes: vectorBytes(found),
          signal,
          onPiece(piece, at) {
            requireFiniteVectors(path, found, { piece, at });
            onProgress?.("vectors", Math.floor(at / (4 * found.dimensions)), count);
          },
        },
      );
      const { model, hash, settings } = encoder;
      const { dimensions, offset, metric } = found;
      const manifest: DenseManifest = {
        format: "agentrl-index",
        version: INDEX_VERSION,
        kind: "dense",
        corpus: { passages: count, sha256: written.sha256 },
        encoder: { model, hash, settings },
        vectors: { storage: "f32", dimensions, file, faiss: { path, offset, metric } },
        passages: written.entries,
        graph: null,
      };
      await writeManifest(folder, manifest);
      return { manifest, agreement };
    } finally {
      await written.passages.close();
    }
  });
}

function requireDimensions(path: string, { dimensions }: FaissFile, encoder: Encoder): void {
  if (dimensions === encoder.dimensions) return;
  throw new DataError(
    "INDEX_ENCODER",
    `${path}: its vectors have ${dimensions} dimensions, but ${encoder.model} gives ${encoder.dimensions}. Queries and passages need the same model: name that of the file with --encoder.`,
  );
}

/** Pairs of neighbours in the sample: vectors that are off by one passage are found, too. */
const PAIRS = 32;

/** Passages with equal texts, or cut ones, may be nearer to another vector. */
const OWN_SHARE = 0.9;

interface SampleOptions {
  encoder: Encoder;
  passages: PassageStore;
  signal?: AbortSignal | undefined;
}

async function compareSample(
  path: string,
  found: FaissFile,
  { encoder, passages, signal }: SampleOptions,
): Promise<Agreement> {
  const positions = samplePositions(found.count);
  const texts = positions.map((position) => searchedText(passages.read(position)));
  const encoded = await encoder.encodePassages(texts, signal);
  const stored = await readVectors(path, found, positions);
  const { dimensions: D } = found;
  const sampled = positions.length;
  const row = (vectors: Float32Array, i: number): Float32Array =>
    vectors.subarray(i * D, (i + 1) * D);
  let own = 0;
  let cosines = 0;
  for (let i = 0; i < sampled; i++) {
    const scores = positions.map((_, j) => cosine(row(encoded, i), row(stored, j)));
    cosines += scores[i]!;
    // Passages of equal text have equal vectors, up to rounding.
    if (scores[i]! >= Math.max(...scores) - 1e-5) own += 1;
  }
  return { sampled, own, cosine: cosines / sampled };
}

function samplePositions(count: number): number[] {
  const draw = random("faiss sample");
  const positions = new Set<number>();
  for (let pair = 0; pair < PAIRS; pair++) {
    const first = draw.int(Math.max(1, count - 1));
    positions.add(first).add(Math.min(first + 1, count - 1));
  }
  return [...positions];
}

/** @returns [positions, D] */
async function readVectors(
  path: string,
  { offset, dimensions }: FaissFile,
  positions: readonly number[],
): Promise<Float32Array> {
  const bytes = new Uint8Array(4 * dimensions * positions.length);
  const file: FileHandle = await open(path);
  try {
    for (const [i, position] of positions.entries()) {
      const { bytesRead } = await file.read(bytes, {
        offset: 4 * dimensions * i,
        length: 4 * dimensions,
        position: offset + 4 * dimensions * position,
      });
      if (bytesRead < 4 * dimensions)
        throw faissProblem(path, "was truncated during the read", "Download it again.");
    }
  } finally {
    await file.close();
  }
  return new Float32Array(bytes.buffer);
}

/** 0 where a vector is zeros. */
function cosine(a: Float32Array, b: Float32Array): number {
  let [dot, aa, bb] = [0, 0, 0];
  for (let d = 0; d < a.length; d++) {
    dot += a[d]! * b[d]!;
    aa += a[d]! ** 2;
    bb += b[d]! ** 2;
  }
  return aa === 0 || bb === 0 ? 0 : dot / Math.sqrt(aa * bb);
}

function requireAgreement(path: string, { sampled, own }: Agreement, source: string): void {
  if (own >= OWN_SHARE * sampled) return;
  throw faissProblem(
    path,
    `of ${sampled} sampled passages of ${source}, encoded again, only ${own} are nearest to their own vector`,
    "Vectors, passages and encoder do not belong together. Name the corpus file that was published with the index, in its own order, and the model that encoded it (--encoder, --pooling, --passage-prefix, --max-tokens).",
  );
}

/** All bits of the exponent: an infinity or NaN. */
const EXPONENT = 0x7f800000;

function requireFiniteVectors(
  path: string,
  { dimensions, offset }: FaissFile,
  { piece, at }: { piece: Uint8Array<ArrayBuffer>; at: number },
): void {
  const bits = new Uint32Array(piece.buffer, piece.byteOffset, piece.length / 4);
  // Millions of numbers a piece: a loop takes a tenth of the time of findIndex.
  let bad = 0;
  while (bad < bits.length && (bits[bad]! & EXPONENT) !== EXPONENT) bad += 1;
  if (bad === bits.length) return;
  const byte = at + 4 * bad;
  throw faissProblem(
    path,
    `vector ${Math.floor(byte / (4 * dimensions))} has a number that is not finite (byte ${offset + byte})`,
    "Download the file again, or encode that passage again.",
  );
}

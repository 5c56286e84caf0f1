/** What the subcommands of `agentrl index` share. */
import type { Bm25Options } from "../../../retrieval/bm25/bm25-options.ts";
import { bm25Variants } from "../../../retrieval/bm25/formula.ts";
import type { IndexManifest } from "../../../retrieval/bm25/index-manifest.ts";
import { sizeOnDisk } from "../../../retrieval/store/checked-file.ts";
import { indexKind } from "../../../retrieval/store/index-folder.ts";
import { analyzers } from "../../../text/analyzer.ts";
import { decimal, flagText, options } from "../../options.ts";
import { usage } from "../../usage.ts";
import { DENSE_OPTIONS, type DenseFlags } from "../index-dense.ts";

/** Help of the argument that names a corpus. */
export const CORPUS =
  "passages in a file (JSON lines, JSON, CSV, TSV, Parquet; .gz or not) or in a folder of text files; or questions with contexts";

/** Help of the argument that names an index. */
export const INDEX = "folder made by `index build`";

/** The options of a BM25 index, the default without --encoder. */
export const BM25_OPTIONS = options({
  variant: ["<name>", `one of ${bm25Variants.names.join(", ")} (default: lucene)`],
  k1: ["<x>", "saturation of repeated terms (default: 0.9)", decimal(0)],
  b: ["<x>", "length normalisation, 0 to 1 (default: 0.4)", decimal(0, 1)],
  delta: ["<x>", "worth of a term's presence, bm25+ and bm25l only (default: 0.5)", decimal(0)],
  analyzer: ["<name>", `one of ${analyzers.names.join(", ")} (default: english)`],
});

/** Refuses flags of the other kind of index, which would be ignored. @throws {ConfigError} USAGE */
export function checkKindFlags(flags: Bm25Options & DenseFlags & { resume?: true }): void {
  const first = (names: readonly string[]): string | undefined =>
    names.find((name) => flags[name as keyof typeof flags] !== undefined);
  const ofBm25 = first(Object.keys(BM25_OPTIONS));
  const { encoder: _, maxMemory: __, ...dense } = DENSE_OPTIONS;
  const ofDense = first([...Object.keys(dense), "resume"]);
  if (flags.encoder !== undefined && ofBm25 !== undefined)
    throw usage(
      `--${ofBm25} belongs to BM25 and --encoder makes a dense index: leave one of them out.`,
    );
  if (flags.encoder === undefined && ofDense !== undefined)
    throw usage(
      `${flagText(ofDense)} belongs to a dense index: name its model with --encoder, or leave it out.`,
    );
}

/**
 * Refuses to change an index that is not BM25.
 * @throws {ConfigError} USAGE @throws {DataError} INDEX_MISSING, INDEX_VERSION, INDEX_CORRUPT.
 */
export async function checkChangeable(folder: string): Promise<void> {
  const kind = await indexKind(folder);
  if (kind === "bm25") return;
  throw usage(
    `${folder}: is a ${kind} index; only BM25 indexes can be changed. Build it again with --overwrite.`,
  );
}

/** Counts of an index. */
export interface IndexSizes {
  /** Searchable passages. */
  passages: number;
  /** Deleted passages that still take space. */
  deleted: number;
  segments: number;
  /** Sum of the distinct terms of each segment. */
  terms: number;
  postings: number;
  /** Bytes of all files except the manifest. */
  bytesOnDisk: number;
}

/** Adds up the segments of a manifest. */
export function sizesOf({ corpus, segments }: IndexManifest): IndexSizes {
  const sizes: IndexSizes = {
    passages: corpus.passages,
    deleted: 0,
    segments: segments.length,
    terms: 0,
    postings: 0,
    bytesOnDisk: 0,
  };
  for (const { terms, postings, files, dead } of segments) {
    sizes.terms += terms;
    sizes.postings += postings;
    sizes.deleted += dead?.passages ?? 0;
    for (const { bytes } of [
      ...Object.values(files),
      ...(dead === undefined ? [] : [dead.entry]),
    ]) {
      sizes.bytesOnDisk += sizeOnDisk(bytes);
    }
  }
  return sizes;
}

/** What the subcommands of `agentrl index` share. */
import type { Command } from "commander";
import { ConfigError } from "../../../base/errors.ts";
import type { Bm25Options } from "../../../retrieval/bm25/bm25-options.ts";
import { bm25Variants } from "../../../retrieval/bm25/formula.ts";
import type { IndexManifest } from "../../../retrieval/bm25/index-manifest.ts";
import { sizeOnDisk } from "../../../retrieval/store/checked-file.ts";
import { indexKind } from "../../../retrieval/store/index-folder.ts";
import { analyzers } from "../../../text/analyzer.ts";
import { decimal } from "../../options.ts";
import type { DenseFlags } from "../index-dense.ts";

/** Help of the argument that names a corpus. */
export const CORPUS =
  "passages in a file (JSON lines, JSON, CSV, TSV, Parquet; .gz or not) or in a folder of text files; or questions with contexts";

/** Help of the argument that names an index. */
export const INDEX = "folder made by `index build`";

/** The options of a BM25 index, the default without --encoder. */
export function addBm25Options(command: Command): Command {
  return command
    .option("--variant <name>", `one of ${bm25Variants.names.join(", ")} (default: lucene)`)
    .option("--k1 <x>", "saturation of repeated terms (default: 0.9)", decimal(0))
    .option("--b <x>", "length normalisation, 0 to 1 (default: 0.4)", decimal(0, 1))
    .option(
      "--delta <x>",
      "worth of a term's presence, bm25+ and bm25l only (default: 0.5)",
      decimal(0),
    )
    .option("--analyzer <name>", `one of ${analyzers.names.join(", ")} (default: english)`);
}

const BM25_FLAGS = ["variant", "k1", "b", "delta", "analyzer"] as const;

const DENSE_FLAGS = {
  queryPrefix: "--query-prefix",
  passagePrefix: "--passage-prefix",
  pooling: "--pooling",
  innerProduct: "--inner-product",
  maxTokens: "--max-tokens",
  dtype: "--dtype",
  vectors: "--vectors",
  graph: "--graph",
  m: "--m",
  efConstruction: "--ef-construction",
  efSearch: "--ef-search",
  resume: "--resume",
} as const;

/**
 * Refuses flags of the other kind of index, which would be ignored.
 * @throws {ConfigError} USAGE
 */
export function checkKindFlags(flags: Bm25Options & DenseFlags & { resume?: true }): void {
  if (flags.encoder !== undefined) {
    const found = BM25_FLAGS.find((name) => flags[name] !== undefined);
    if (found === undefined) return;
    throw new ConfigError(
      "USAGE",
      `--${found} belongs to BM25 and --encoder makes a dense index: leave one of them out.`,
    );
  }
  for (const [name, flag] of Object.entries(DENSE_FLAGS)) {
    if (flags[name as keyof typeof DENSE_FLAGS] === undefined) continue;
    throw new ConfigError(
      "USAGE",
      `${flag} belongs to a dense index: name its model with --encoder, or leave it out.`,
    );
  }
}

/**
 * Refuses to change an index that is not BM25.
 * @throws {ConfigError} USAGE @throws {DataError} INDEX_MISSING, INDEX_VERSION, INDEX_CORRUPT.
 */
export async function checkChangeable(folder: string): Promise<void> {
  const kind = await indexKind(folder);
  if (kind === "bm25") return;
  throw new ConfigError(
    "USAGE",
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

import { availableParallelism } from "node:os";
import { type AnalyzerAdvice, suggestAnalyzer, TextSample } from "../../text/suggest-analyzer.ts";
import type { Passage } from "../../trajectory/task.ts";
import { INDEX_VERSION, writeIndexFolder } from "../store/index-folder.ts";
import type { Bm25Options } from "./bm25-options.ts";
import { resolveBm25Options } from "./formula.ts";
import { noTerms } from "./corpus.ts";
import { writeCorpus } from "./corpus-writer.ts";
import {
  changeName,
  type IndexManifest,
  segmentFolder,
  writeBm25Manifest,
} from "./index-manifest.ts";
import { segmentOfCorpus } from "./write-segment.ts";

export interface IndexingOptions {
  /** The corpus in messages: its path. */
  source?: string;
  /** Threads for analysis; 0 uses this thread. Default: one per core, except one for reading and writing. */
  threads?: number;
  signal?: AbortSignal;
  /** Called after every 1 000 passages. */
  onProgress?: (passages: number) => void;
  /** Called where another analyzer fits the passages' script or language. */
  onAdvice?: (advice: AnalyzerAdvice) => void;
}

export interface BuildIndexOptions extends Bm25Options, IndexingOptions {
  /** Replace an existing index; without it, an existing index is an error. */
  overwrite?: boolean;
}

/** One thread per core, except one for reading and writing. */
export function defaultThreads(): number {
  return Math.max(1, availableParallelism() - 1);
}

/**
 * Builds a BM25 index folder from a stream of passages, in bounded memory: text is written at once, postings as
 * sorted runs that are merged at the end. Everything is written to a temporary folder beside `out` and renamed, so `out`
 * is either a complete index or unchanged.
 *
 * @returns the manifest as written.
 * @throws {DataError} CORPUS_EMPTY, CORPUS_WITHOUT_TERMS, CORPUS_DUPLICATE_ID, PASSAGE_TOO_LONG, and what `passages` throws.
 * @throws {ConfigError} INDEX_EXISTS when `out` exists and `overwrite` is not set, or it is not an index; as `resolveBm25Options`.
 * @throws {ExternalError} FILE_WRITE_FAILED (disk full, no permission).
 */
export async function buildIndex(
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  out: string,
  options: BuildIndexOptions = {},
): Promise<IndexManifest> {
  const { overwrite = false, source = "corpus", threads, signal, ...others } = options;
  const { onProgress, onAdvice, ...bm25 } = others;
  const { analyzer, parameters } = resolveBm25Options(bm25, "index");
  const sample = new TextSample();
  const manifest = await writeIndexFolder(out, { overwrite, signal }, async (folder) => {
    const segment = changeName(1);
    const corpus = await writeCorpus(sampled(passages, sample), segmentFolder(folder, segment), {
      analyzer,
      signal,
      onProgress,
      threads: threads ?? defaultThreads(),
    });
    const target = { folder, name: segment, parameters, signal };
    const entry = await segmentOfCorpus(corpus, target, source);
    if (entry.terms === 0) throw noTerms(source, entry.passages, analyzer.name);
    const { name, version, options: settings } = analyzer;
    const manifest: IndexManifest = {
      format: "agentrl-index",
      version: INDEX_VERSION,
      kind: "bm25",
      analyzer: { name, version, options: settings },
      parameters,
      corpus: { passages: entry.passages, sha256: corpus.sha256 },
      changes: 1,
      segments: [entry],
    };
    await writeBm25Manifest(folder, manifest);
    return manifest;
  });
  const advice = suggestAnalyzer(sample.texts, analyzer.name);
  if (advice !== null) onAdvice?.(advice);
  return manifest;
}

async function* sampled(
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  sample: TextSample,
): AsyncGenerator<Passage> {
  for await (const passage of passages) {
    sample.add(passage.text);
    yield passage;
  }
}

import { sha256 } from "../../base/files.ts";
import { parseOptions, z } from "../../base/schema.ts";
import type { Passage } from "../../trajectory/task.ts";
import { type FileEntry, createFile } from "../store/checked-file.ts";
import { INDEX_VERSION, writeIndexFolder, writeManifest } from "../store/index-folder.ts";
import {
  openCollected,
  passageCollector,
  searchedText,
  type PassageEntries,
  type PassageFile,
} from "../store/passage-file.ts";
import { type DenseManifest, graphPath, vectorsPath } from "./dense-manifest.ts";
import type { Encoder } from "./encoder.ts";
import { buildHnsw, type GraphEntry, hnswParameters, requireHnsw } from "./hnsw.ts";
import { openDraft, removeDraft, type VectorDraft } from "./vector-draft.ts";
import {
  decodeVectors,
  encodeVectors,
  VECTOR_STORAGES,
  type VectorFormat,
  vectorFormat,
} from "./vector-format.ts";

export const denseOptions = hnswParameters.partial().extend({
  /** f32 is exact; f16 halves it, int8 quarters it (one scale per vector). */
  vectors: z.enum(VECTOR_STORAGES).default("f32"),
  /** A graph answers from a few thousand comparisons; without one every query is compared with every vector. */
  graph: z.enum(["hnsw", "flat"]).default("flat"),
});
export type DenseOptions = z.input<typeof denseOptions>;

type BuildPhase = "passages" | "encoding" | "graph";

/** Options of `buildDenseIndex` beside the vectors. */
export interface BuildDenseOptions extends DenseOptions {
  encoder: Encoder;
  /** Replace an existing index, and discard an interrupted build. */
  overwrite?: boolean;
  /** Continue an interrupted build after its last complete batch. */
  resume?: boolean;
  /** The corpus in messages: its path. */
  source?: string;
  signal?: AbortSignal | undefined;
  /** @param total 0 while it is not known. */
  onProgress?: (phase: BuildPhase, done: number, total: number) => void;
}

/** Passages that are encoded, and kept for good, together: many, so that batches by length are even. */
const BATCH_PASSAGES = 256;

/**
 * Builds a dense index folder: passages to disk, their vectors batch by batch, then the graph. The folder is written
 * atomically; vectors survive an interruption in `OUT.draft`, and `resume` continues from there.
 *
 * @returns the manifest as written.
 * @throws {DataError} CORPUS_EMPTY, CORPUS_DUPLICATE_ID, ENCODER_BAD (vectors that are no numbers), what `passages` throws.
 * @throws {ConfigError} INDEX_EXISTS, INDEX_DRAFT, RECIPE_BAD_VALUE.
 * @throws {ExternalError} FILE_WRITE_FAILED, HNSW_MISSING.
 */
export async function buildDenseIndex(
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  out: string,
  options: BuildDenseOptions,
): Promise<DenseManifest> {
  const {
    encoder,
    overwrite = false,
    resume = false,
    source = "corpus",
    signal,
    ...rest
  } = options;
  const { onProgress, ...given } = rest;
  const { vectors: storage, graph, ...parameters } = parseOptions(denseOptions, given, "index");
  const format = vectorFormat(storage, encoder.dimensions);
  if (graph === "hnsw") await requireHnsw(); // now, not after hours of encoding
  const manifest = await writeIndexFolder(out, { overwrite, signal }, async (folder) => {
    onProgress?.("passages", 0, 0);
    const written = await writePassages(folder, passages, { source, signal });
    const of = sha256(JSON.stringify([written.sha256, encoder.fingerprint, format]));
    const draft = await openDraft(out, { of, format, resume, discard: overwrite });
    const watch = { signal, onProgress };
    try {
      await encodeAll(written.passages, draft, { encoder, format, ...watch });
      const file = copyVectors(draft, written.passages.count, vectorsPath(folder));
      const entry =
        graph === "flat"
          ? null
          : await graphOf(draft, folder, {
              written,
              format,
              ...watch,
              ...hnswParameters.parse(parameters),
            });
      const { model, hash, settings } = encoder;
      const made: DenseManifest = {
        format: "agentrl-index",
        version: INDEX_VERSION,
        kind: "dense",
        corpus: { passages: written.passages.count, sha256: written.sha256 },
        encoder: { model, hash, settings },
        vectors: { storage, dimensions: encoder.dimensions, file },
        passages: written.entries,
        graph: entry,
      };
      await writeManifest(folder, made);
      return made;
    } finally {
      draft.close();
      await written.passages.close();
    }
  });
  await removeDraft(out);
  return manifest;
}

interface Watch {
  signal: AbortSignal | undefined;
  onProgress: BuildDenseOptions["onProgress"];
}

async function encodeAll(
  passages: PassageFile,
  draft: VectorDraft,
  { encoder, format, signal, onProgress }: Watch & { encoder: Encoder; format: VectorFormat },
): Promise<void> {
  const { count } = passages;
  onProgress?.("encoding", draft.done, count);
  while (draft.done < count) {
    signal?.throwIfAborted();
    const from = draft.done;
    const texts = Array.from({ length: Math.min(BATCH_PASSAGES, count - from) }, (_, i) =>
      searchedText(passages.read(from + i)),
    );
    const vectors = await encoder.encodePassages(texts, signal);
    await draft.append(encodeVectors(format, vectors));
    onProgress?.("encoding", draft.done, count);
  }
}

const COPY_VECTORS = 4096;

function copyVectors(draft: VectorDraft, count: number, path: string): FileEntry {
  const file = createFile(path);
  try {
    for (let at = 0; at < count; at += COPY_VECTORS)
      file.append(draft.read(at, Math.min(count, at + COPY_VECTORS)));
    return file.finish();
  } finally {
    file.abandon();
  }
}

/** The graph is over the vectors as they are stored, rounding included. */
function graphOf(
  draft: VectorDraft,
  folder: string,
  options: Watch & { written: WrittenPassages; format: VectorFormat } & z.output<
      typeof hnswParameters
    >,
): Promise<GraphEntry> {
  const { written, format, onProgress, ...parameters } = options;
  const { count } = written.passages;
  return buildHnsw(graphPath(folder), {
    ...parameters,
    count,
    dimensions: format.dimensions,
    vectors: (from, to) => decodeVectors(format, draft.read(from, to)),
    onProgress: (done) => onProgress?.("graph", done, count),
  });
}

interface WrittenPassages {
  entries: PassageEntries;
  /** Open; the caller closes it. */
  passages: PassageFile;
  /** Of the lines: the corpus's fingerprint. */
  sha256: string;
}

/**
 * Streams a corpus into the passages' files of an index, in bounded memory (12 bytes per passage).
 *
 * @param source the corpus in messages.
 * @throws {DataError} CORPUS_EMPTY, CORPUS_DUPLICATE_ID, and what `passages` throws.
 */
export async function writePassages(
  folder: string,
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  { source, signal }: { source: string; signal?: AbortSignal | undefined },
): Promise<WrittenPassages> {
  const collector = passageCollector(folder);
  try {
    for await (const passage of passages) {
      if (!collector.add(passage)) continue;
      collector.flush();
      signal?.throwIfAborted();
    }
    const { entries, sha256 } = collector.finish();
    const written = await openCollected(folder, entries, collector.ids.sorted(), source);
    return { entries, passages: written, sha256 };
  } finally {
    collector.abandon();
  }
}

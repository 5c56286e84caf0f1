import { formatBytes } from "../../base/format.ts";
import { availableMemory } from "node:process";
import { isDeepStrictEqual } from "node:util";
import { ConfigError, DataError, errorMessage } from "../../base/errors.ts";
import { sha256 } from "../../base/files.ts";
import { z } from "../../base/schema.ts";
import { isPath } from "../../base/setting-path.ts";
import { visibleLine } from "../../base/visible-text.ts";
import { defineRetriever, type Hit, type Retriever } from "../retriever.ts";
import { openPassages, type PassageStore } from "../store/passage-file.ts";
import { type DenseManifest, graphPath, readDenseManifest, vectorFile } from "./dense-manifest.ts";
import { type Encoder, type EncoderRun, openEncoder } from "./encoder.ts";
import { faissProblem, readFaissFile } from "./faiss-file.ts";
import { openFlatSearch } from "./flat-search.ts";
import { canOpenHnsw, type GraphEntry, HNSW_ADVICE, hnswMemory, openHnsw } from "./hnsw.ts";
import type { VectorSearch } from "./vector-format.ts";

interface OpenDenseOptions {
  /** Folder of the model, if it has moved since the build. */
  model?: string | undefined;
  /** The FAISS file with its vectors, if it has moved since the build. */
  faiss?: string | undefined;
  /** Compare with every vector, even if there is a graph. */
  exact?: boolean | undefined;
  /** Candidates of the graph's search, instead of the index's. */
  efSearch?: number | undefined;
  /** Of the exact search; as `FlatOptions`. */
  threads?: number | undefined;
  /**
   * Limit in bytes for vectors or graph; default: 4/5 of the free memory, and 0 for vectors in a FAISS file. Above it, exact search reads from the
   * file.
   */
  maxMemory?: number | undefined;
  run?: EncoderRun;
}

export interface DenseRetriever extends Retriever {
  readonly manifest: DenseManifest;
  readonly encoder: Encoder;
  readonly passages: PassageStore;
  readonly vectors: VectorSearch;
}

/**
 * Opens a dense index folder and its model. Vectors kept in memory are read and checked now,
 * a graph is hashed; passages and other vectors are checked when they are read.
 *
 * @throws {DataError} INDEX_MISSING, INDEX_VERSION, INDEX_CORRUPT; INDEX_ENCODER when the model is not there or another one; INDEX_FAISS
 *   likewise for the FAISS file.
 * @throws {ConfigError} INDEX_TOO_LARGE when the graph does not fit into memory; RECIPE_BAD_VALUE for `faiss` of an index that has its own vectors.
 * @throws {ExternalError} ENCODER_LIBRARY_MISSING, ENCODER_UNAVAILABLE.
 */
export async function openDenseIndex(
  folder: string,
  options: OpenDenseOptions = {},
): Promise<DenseRetriever> {
  const manifest = await readDenseManifest(folder);
  const passages = openPassages(folder, manifest.passages, manifest.corpus.passages);
  try {
    const vectors = await openVectors(folder, manifest, options);
    const encoder = await openModel(folder, manifest, options).catch(async (error: unknown) => {
      await vectors.close();
      throw error;
    });
    return denseRetriever({ manifest, encoder, passages, vectors });
  } catch (error) {
    await passages.close();
    throw error;
  }
}

interface DenseParts {
  manifest: DenseManifest;
  encoder: Encoder;
  passages: PassageStore;
  vectors: VectorSearch;
}

function denseRetriever(parts: DenseParts): DenseRetriever {
  const { manifest, encoder, passages, vectors } = parts;
  const { corpus, vectors: stored } = manifest;
  const { faiss, file } = stored;
  const identity = [corpus.sha256, encoder.fingerprint, stored.storage, vectors.kind];
  // These vectors do not follow from corpus and encoder.
  if (faiss !== undefined) identity.push(file.checksum, faiss.metric);
  return {
    ...parts,
    name: "dense",
    fingerprint: `dense-${sha256(JSON.stringify(identity)).slice(0, 16)}`,
    async search(queries, k, { signal } = {}) {
      signal?.throwIfAborted();
      const encoded = await encoder.encodeQueries(queries, signal);
      const found = await vectors.search(encoded, k, signal);
      return found.map((hits) =>
        hits.map(({ position, score }): Hit => ({ ...passages.read(position), score })),
      );
    },
    close: async () => {
      await Promise.all([encoder.close(), passages.close(), vectors.close()]);
    },
  };
}

/** Share of the free memory that vectors may take unless a limit is given. */
const FREE_SHARE = 0.8;

/** The search over an index's vectors: by its graph where there is one and its library, else exact. */
export async function openVectors(
  folder: string,
  manifest: DenseManifest,
  options: OpenDenseOptions,
): Promise<VectorSearch> {
  const { graph, vectors, corpus } = manifest;
  if (options.faiss !== undefined && vectors.faiss === undefined) throw ownVectors(folder);
  const limit =
    options.maxMemory ?? (vectors.faiss === undefined ? FREE_SHARE * availableMemory() : 0);
  if (graph !== null && options.exact !== true && (await graphIsUsable(folder, graph))) {
    const wanted = hnswMemory(corpus.passages, vectors.dimensions, graph.M);
    if (wanted > limit) throw graphTooLarge(folder, wanted, limit);
    const entry = { ...graph, efSearch: options.efSearch ?? graph.efSearch };
    const { dimensions } = vectors;
    return openHnsw({ path: graphPath(folder), entry, dimensions, count: corpus.passages });
  }
  const file = vectorFile(folder, manifest, options.faiss);
  if (file.foreign !== undefined) await checkFaiss(folder, manifest, file.path);
  const { threads } = options;
  const resident = vectors.file.bytes <= limit;
  return openFlatSearch(file, { resident, threads });
}

function ownVectors(folder: string): ConfigError {
  return new ConfigError(
    "RECIPE_BAD_VALUE",
    `${folder}: has its vectors in its own folder, so faiss would have no effect. Leave it out, or build an index of the FAISS file: agentrl index build CORPUS --faiss FILE --encoder MODEL --out INDEX.`,
  );
}

/** The vectors' own checksums are compared when they are read. */
async function checkFaiss(folder: string, manifest: DenseManifest, path: string): Promise<void> {
  const moved = "If the file has moved, set its path: { name: dense, index: …, faiss: FILE }.";
  const found = await readFaissFile(path).catch((error: unknown) => {
    if (!(error instanceof DataError)) throw error;
    const what = `${folder}: needs the FAISS file with its vectors: ${errorMessage(error)} ${moved}`;
    throw new DataError("INDEX_FAISS", what, { cause: error });
  });
  const { vectors, corpus } = manifest;
  const { dimensions, faiss } = vectors;
  const built = {
    count: corpus.passages,
    dimensions,
    metric: faiss?.metric,
    offset: faiss?.offset,
  };
  if (isDeepStrictEqual(found, built)) return;
  throw faissProblem(
    folder,
    `was built with ${shapeOf(built)}, but ${path} has ${shapeOf(found)}`,
    moved,
  );
}

function shapeOf(found: { count: number; dimensions: number; metric: string | undefined }): string {
  return `${found.count} vectors of ${found.dimensions} dimensions (${found.metric ?? ""})`;
}

let noticed = false;

/** Whether the graph can be searched; says once when it cannot. */
async function graphIsUsable(folder: string, graph: GraphEntry): Promise<boolean> {
  if (await canOpenHnsw(graph)) return true;
  if (!noticed)
    process.emitWarning(
      `${visibleLine(folder)} is searched exactly instead of with its graph, which is slower but complete. ${HNSW_ADVICE}.`,
      { type: "AgentrlWarning", code: "HNSW_MISSING" },
    );
  noticed = true;
  return false;
}

function graphTooLarge(folder: string, wanted: number, limit: number): ConfigError {
  return new ConfigError(
    "INDEX_TOO_LARGE",
    `${folder}: its graph needs ${formatBytes(wanted)} of memory, but the limit is ${formatBytes(limit)}. Open it with exact: true (vectors are then read from the file as needed), or raise maxMemory.`,
  );
}

async function openModel(
  folder: string,
  { encoder: made }: DenseManifest,
  { model = made.model, run }: OpenDenseOptions,
): Promise<Encoder> {
  const encoder = await openEncoder(model, made.settings, run).catch((error: unknown) => {
    if (!(error instanceof DataError)) throw error;
    throw new DataError(
      "INDEX_ENCODER",
      `${folder}: its queries need its own model, which was not found: ${errorMessage(error)} If the model has moved, set its folder: { name: dense, index: …, model: FOLDER }.`,
      { cause: error },
    );
  });
  if (encoder.hash === made.hash) return encoder;
  await encoder.close();
  throw new DataError(
    "INDEX_ENCODER",
    `${folder}: was built with a model of hash ${made.hash.slice(0, 16)}, but ${model} has ${encoder.hash.slice(0, 16)}. Queries and passages need the same model: use that model, or build the index again.`,
  );
}

const options = z.strictObject({
  /** Folder made by `agentrl index build --encoder`. */
  index: z.string().meta(isPath()),
  /** Where its model is, when it has moved. */
  model: z.string().optional(),
  /** Where the FAISS file with its vectors is, when it has moved. */
  faiss: z.string().meta(isPath()).optional(),
  /** Compare with every passage even where the index has a graph. */
  exact: z.boolean().optional(),
  /** Candidates of the graph's search; more finds more and takes longer. */
  efSearch: z.int().min(1).optional(),
  /** Bytes of memory for vectors or graph; vectors in a FAISS file are held in memory only with it. */
  maxMemory: z.int().min(1).optional(),
});

export const dense = defineRetriever({
  name: "dense",
  summary: "Nearest passages by text embeddings, over an index folder that has them.",
  options,
  async open({ index, ...rest }) {
    return openDenseIndex(index, rest);
  },
});

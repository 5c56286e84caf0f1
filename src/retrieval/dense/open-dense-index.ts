import { formatBytes } from "../../base/format.ts";
import { availableMemory } from "node:process";
import { ConfigError, DataError, errorMessage } from "../../base/errors.ts";
import { sha256 } from "../../base/files.ts";
import { z } from "../../base/schema.ts";
import { isPath } from "../../base/setting-path.ts";
import { visibleLine } from "../../base/visible-text.ts";
import { defineRetriever, type Hit, type Retriever } from "../retriever.ts";
import { openPassages, type PassageStore } from "../store/passage-file.ts";
import {
  denseFormat,
  type DenseManifest,
  graphPath,
  readDenseManifest,
  vectorsPath,
} from "./dense-manifest.ts";
import { type Encoder, type EncoderRun, openEncoder } from "./encoder.ts";
import { openFlatSearch } from "./flat-search.ts";
import { canOpenHnsw, type GraphEntry, HNSW_ADVICE, hnswMemory, openHnsw } from "./hnsw.ts";
import type { VectorSearch } from "./vector-format.ts";

interface OpenDenseOptions {
  /** Folder of the model, if it has moved since the build. */
  model?: string | undefined;
  /** Compare with every vector, even if there is a graph. */
  exact?: boolean | undefined;
  /** Candidates of the graph's search, instead of the index's. */
  efSearch?: number | undefined;
  /** Of the exact search; as `FlatOptions`. */
  threads?: number | undefined;
  /** Limit in bytes for vectors or graph; default: 4/5 of the free memory. Above it, exact search reads from the file. */
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
 * @throws {DataError} INDEX_MISSING, INDEX_VERSION, INDEX_CORRUPT; INDEX_ENCODER when the model is not there or another one.
 * @throws {ConfigError} INDEX_TOO_LARGE when the graph does not fit into memory.
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
  const identity = [corpus.sha256, encoder.fingerprint, stored.storage, vectors.kind];
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
  const limit = options.maxMemory ?? FREE_SHARE * availableMemory();
  if (graph !== null && options.exact !== true && (await graphIsUsable(folder, graph))) {
    const wanted = hnswMemory(corpus.passages, vectors.dimensions, graph.M);
    if (wanted > limit) throw graphTooLarge(folder, wanted, limit);
    const entry = { ...graph, efSearch: options.efSearch ?? graph.efSearch };
    const { dimensions } = vectors;
    return openHnsw({ path: graphPath(folder), entry, dimensions, count: corpus.passages });
  }
  const file = { path: vectorsPath(folder), entry: vectors.file, format: denseFormat(manifest) };
  const { threads } = options;
  const resident = vectors.file.bytes <= limit;
  return openFlatSearch(file, { resident, threads });
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
  /** Compare with every passage even where the index has a graph. */
  exact: z.boolean().optional(),
  /** Candidates of the graph's search; more finds more and takes longer. */
  efSearch: z.int().min(1).optional(),
  /** Bytes of memory for vectors or graph. */
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

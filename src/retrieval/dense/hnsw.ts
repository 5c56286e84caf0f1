import { stat } from "node:fs/promises";
import { availableMemory } from "node:process";
import { setImmediate } from "node:timers/promises";
import type * as Hnsw from "hnswlib-node";
import { errorMessage, ExternalError } from "../../base/errors.ts";
import { sha256File } from "../../base/files.ts";
import { z } from "../../base/schema.ts";
import { webAssembly, type WebAssemblyApi } from "../../base/wasm.ts";
import { corrupt } from "../store/checked-file.ts";
import type { Scored } from "../top-k.ts";
import { type BuiltGraph, chooseEfSearch, heldOut, LEAST_EF_SEARCH } from "./choose-ef-search.ts";
import { type GraphSearch, MAX_GRAPH_BYTES, openGraphSearch } from "./graph-search.ts";
import type { VectorSearch } from "./vector-format.ts";

/** A navigable small-world graph's parameters, by the paper's names (Malkov and Yashunin, arXiv 1603.09320). */
export const hnswParameters = z.strictObject({
  /** Neighbours per vector and layer (the paper's M); twice as many in the lowest layer. */
  M: z.int().min(2).max(256).default(16),
  /** Candidates examined when a vector is added. */
  efConstruction: z.int().min(10).default(200),
  /** Candidates examined by a query, at least k. Default: measured by vectors held out of the graph (choose-ef-search.ts). */
  efSearch: z.int().min(1).optional(),
});
export type HnswParameters = z.output<typeof hnswParameters>;

/** A manifest's entry for the graph's file, in hnswlib's format, with vectors in f32. */
export const graphEntrySchema = hnswParameters.extend({
  efSearch: z.int().min(1),
  bytes: z.int().min(0),
  sha256: z.string().length(64),
});
export type GraphEntry = z.output<typeof graphEntrySchema>;

type Hnswlib = typeof Hnsw;

/** hnswlib-node, or null when it is not built: npm compiles it at installation. */
async function hnswLibrary(): Promise<Hnswlib | null> {
  const { default: library } = (await import("hnswlib-node").catch(() => ({ default: null }))) as {
    default: Hnswlib | null;
  };
  return library;
}

/** Advice when the graph library is missing. */
export const HNSW_ADVICE =
  "hnswlib-node, which builds graphs, is not installed: its installation needs a C++ compiler, make and Python. With them, run `npm rebuild hnswlib-node` or `npm install hnswlib-node@3`";

/** @throws {ExternalError} HNSW_MISSING */
export async function requireHnsw(): Promise<Hnswlib> {
  const library = await hnswLibrary();
  if (library !== null) return library;
  throw new ExternalError("HNSW_MISSING", `${HNSW_ADVICE}; or search exactly (--graph flat).`);
}

/** Bytes of a graph's file: each vector in f32, its links and its label; upper layers hold one in M. */
export function hnswBytes(count: number, dimensions: number, M: number): number {
  return count * (hnswRecordBytes(dimensions, M) + 4 + Math.ceil((4 * (M + 1)) / (M - 1)));
}

/** Numbers, links in the lowest layer, label. */
function hnswRecordBytes(dimensions: number, M: number): number {
  return 4 * dimensions + 4 * (2 * M + 1) + 8;
}

/** Memory of an opened graph: its file, and each vector once more as bytes. */
export function hnswMemory(count: number, dimensions: number, M: number): number {
  return hnswBytes(count, dimensions, M) + count * (16 * Math.ceil(dimensions / 16) + 4 + 1);
}

export interface HnswBuild extends HnswParameters {
  count: number;
  dimensions: number;
  /** @returns [to − from, D] */
  vectors(from: number, to: number): Float32Array;
  signal?: AbortSignal | undefined;
  onProgress?: ((vectors: number) => void) | undefined;
}

/** Vectors added between checks of the abort signal. */
const STEP = 64;

/**
 * Builds a graph over inner products and writes it; the same input gives the same file. One thread: hnswlib-node has no
 * other. Where no `efSearch` is given, one is measured (choose-ef-search.ts) before the last vectors are added: those that it is
 * measured by.
 *
 * @throws {ExternalError} HNSW_MISSING, RUNTIME_FAILED (memory), FILE_WRITE_FAILED.
 */
export async function buildHnsw(path: string, build: HnswBuild): Promise<GraphEntry> {
  const { HierarchicalNSW } = await requireHnsw();
  const { count, dimensions, M, efConstruction, signal, onProgress } = build;
  const pause = async (): Promise<void> => {
    await setImmediate();
    signal?.throwIfAborted();
  };
  const graph = new HierarchicalNSW("ip", dimensions);
  try {
    graph.initIndex({ maxElements: count, m: M, efConstruction, randomSeed: 100 });
  } catch (error) {
    throw new ExternalError(
      "RUNTIME_FAILED",
      `${path}: the graph could not be built (${errorMessage(error)}). If memory ran out, build it with a smaller M or search exactly (--graph flat).`,
      { cause: error },
    );
  }
  const held = build.efSearch === undefined ? heldOut(count) : new Set<number>();
  for (let from = 0; from < count; from += STEP) {
    const to = Math.min(count, from + STEP);
    const vectors = build.vectors(from, to);
    for (let i = from; i < to; i++) {
      const at = (i - from) * dimensions;
      if (!held.has(i)) graph.addPoint(Array.from(vectors.subarray(at, at + dimensions)), i);
    }
    onProgress?.(to);
    await pause();
  }
  const efSearch =
    build.efSearch ?? (await measuredEfSearch(path, graph, { ...build, held, pause }));
  for (const i of held) graph.addPoint(Array.from(build.vectors(i, i + 1)), i);
  // Its promise resolves to false on a full disk, and some errors are not reported.
  graph.writeIndexSync(path);
  const { size: bytes } = await stat(path);
  refuseUnlessWhole(path, bytes, count * (hnswRecordBytes(dimensions, M) + 4));
  return { M, efConstruction, efSearch, bytes, sha256: await sha256File(path) };
}

/** Measures with the search that will be used, of the graph's file as it is so far, if memory allows a second copy. */
async function measuredEfSearch(
  path: string,
  graph: Hnsw.HierarchicalNSW,
  build: HnswBuild & Pick<BuiltGraph, "held" | "pause">,
): Promise<number> {
  const { dimensions, M, held } = build;
  if (held.size === 0) return LEAST_EF_SEARCH;
  const count = build.count - held.size;
  const isRoom = hnswMemory(count, dimensions, M) < availableMemory();
  const api = isRoom ? webAssemblyFor(hnswBytes(count, dimensions, M)) : null;
  if (api === null) return chooseEfSearch({ ...build, search: searchBy(graph, count) });
  graph.writeIndexSync(path);
  const sha256 = await sha256File(path);
  const searched = await openGraphSearch(api, { path, sha256, dimensions, count });
  return chooseEfSearch({ ...build, ...searched });
}

export interface HnswFile {
  path: string;
  entry: GraphEntry;
  dimensions: number;
  /** Vectors in the graph. */
  count: number;
}

/** Queries between turns of the event loop. */
const QUERIES_PER_TURN = 16;

/**
 * Opens a graph: its file is hashed as it is loaded. It is searched without hnswlib (graph-search.ts) where it fits into
 * WebAssembly's memory, else by hnswlib-node.
 *
 * @throws {DataError} INDEX_CORRUPT when its bytes are not those that were written.
 * @throws {ExternalError} HNSW_MISSING for a larger graph where the library is missing.
 */
export async function openHnsw({
  path,
  entry,
  dimensions,
  count,
}: HnswFile): Promise<VectorSearch> {
  const { M, efConstruction, efSearch, sha256 } = entry;
  const api = webAssemblyFor(entry.bytes);
  const one =
    api === null
      ? await openByLibrary({ path, entry, dimensions, count })
      : await openGraphSearch(api, { path, sha256, dimensions, count });
  return {
    kind: `hnsw M ${M} efConstruction ${efConstruction} efSearch ${efSearch}`,
    async search(queries, k, signal) {
      signal?.throwIfAborted();
      const hits: Scored[][] = [];
      for (let at = 0; at < queries.length; at += dimensions) {
        hits.push(one.search(queries.subarray(at, at + dimensions), k, efSearch));
        if (hits.length % QUERIES_PER_TURN !== 0) continue;
        await setImmediate();
        signal?.throwIfAborted();
      }
      return hits;
    },
    close: () => Promise.resolve(),
  };
}

/** Whether a graph can be opened here: larger ones, and all under `node --jitless`, need hnswlib-node. */
export async function canOpenHnsw({ bytes }: GraphEntry): Promise<boolean> {
  return webAssemblyFor(bytes) !== null || (await hnswLibrary()) !== null;
}

/** WebAssembly, where it is and has room for a graph of this size. */
function webAssemblyFor(graphBytes: number): WebAssemblyApi | null {
  return webAssembly !== undefined && graphBytes <= MAX_GRAPH_BYTES ? webAssembly : null;
}

/** The same search by hnswlib-node: its arguments are arrays of numbers, which cost 0.1 µs each to hand over. */
export async function openByLibrary({
  path,
  entry,
  dimensions,
  count,
}: HnswFile): Promise<GraphSearch> {
  const { HierarchicalNSW } = await requireHnsw();
  const found = await sha256File(path).catch((error: unknown) => {
    throw corrupt(`${path}: cannot be read (${errorMessage(error)})`, error);
  });
  if (found !== entry.sha256) throw corrupt(`${path}: was modified`);
  const graph = new HierarchicalNSW("ip", dimensions);
  await graph.readIndex(path);
  return { search: searchBy(graph, count) };
}

function searchBy(graph: Hnsw.HierarchicalNSW, count: number): GraphSearch["search"] {
  return (query, k, efSearch) => {
    graph.setEf(Math.max(efSearch, k));
    // hnswlib's inner-product distance is 1 − the product.
    const { neighbors, distances } = graph.searchKnn(Array.from(query), Math.min(k, count));
    return neighbors
      .map((position, i) => ({ position, score: 1 - distances[i]! }))
      .sort((a, b) => b.score - a.score || a.position - b.position);
  };
}

/** hnswlib does not check whether its writes succeed. */
function refuseUnlessWhole(path: string, bytes: number, least: number): void {
  if (bytes >= least) return;
  throw new ExternalError(
    "FILE_WRITE_FAILED",
    `${path}: only ${bytes} of at least ${least} bytes of the graph were written. The disk may be full: free space and continue with --resume.`,
  );
}

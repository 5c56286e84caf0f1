import { formatBytes } from "../../base/format.ts";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { availableMemory } from "node:process";
import { ConfigError } from "../../base/errors.ts";
import type { z } from "../../base/schema.ts";
import { parseOptions } from "../../base/schema.ts";
import type { Passage } from "../../trajectory/task.ts";
import { emptyCorpus } from "../bm25/corpus.ts";
import { freeDiskBytes } from "../../base/files.ts";
import { passageLine, searchedText } from "../store/passage-file.ts";
import { type DenseOptions, denseOptions } from "./build-dense-index.ts";
import type { Encoder } from "./encoder.ts";
import { LEAST_EF_SEARCH } from "./choose-ef-search.ts";
import { buildHnsw, hnswBytes, hnswMemory, hnswParameters } from "./hnsw.ts";
import { VECTOR_STORAGES, type VectorFormat, vectorFormat } from "./vector-format.ts";

/** What a dense index will cost. */
export interface DensePlan {
  passages: number;
  /** Passages that were encoded to tell the rest. */
  sampled: number;
  dimensions: number;
  vectors: VectorFormat["storage"];
  graph: "hnsw" | "flat";
  M: number;
  /** Size of the index folder; text, vectors and graph are its parts. */
  bytesOnDisk: number;
  textBytes: number;
  vectorBytes: number;
  graphBytes: number;
  /** What building needs on disk beside that, until it is done: the vectors once more. */
  temporaryBytes: number;
  /** Memory of the opened index: the graph, or else the vectors (which can also be left on disk). */
  residentBytes: number;
  /** Time to build on this machine: encoding, then the graph. */
  seconds: number;
  encodingSeconds: number;
  graphSeconds: number;
}

export interface PlanDenseOptions extends DenseOptions {
  encoder: Encoder;
  /** Passages to encode, from the start of the corpus. */
  sample?: number;
  /** The corpus in messages: its path. */
  source?: string;
  signal?: AbortSignal | undefined;
}

/**
 * Encodes the first passages of a corpus, times it, counts the rest and extrapolates; nothing is written.
 * @throws {DataError} CORPUS_EMPTY and what reading throws. @throws {ConfigError} RECIPE_BAD_VALUE
 */
export async function planDenseIndex(
  passages: AsyncIterable<Passage> | Iterable<Passage>,
  { encoder, sample = 128, source = "corpus", signal, ...given }: PlanDenseOptions,
): Promise<DensePlan> {
  const { vectors, graph, ...rest } = parseOptions(denseOptions, given, "index");
  const texts: string[] = [];
  let count = 0;
  let sampledBytes = 0;
  for await (const passage of passages) {
    count += 1;
    if (count % 1000 === 0) signal?.throwIfAborted();
    if (count > sample) continue;
    texts.push(searchedText(passage));
    sampledBytes += Buffer.byteLength(passageLine(passage)) + 1;
  }
  if (count === 0) throw emptyCorpus(source);
  const begin = performance.now();
  const encoded = await encoder.encodePassages(texts, signal);
  const encodingSeconds = ((performance.now() - begin) / 1000) * (count / texts.length);
  const { dimensions } = encoder;
  const parameters = hnswParameters.parse(rest);
  const sizes = sizesOf({ passages: count, dimensions, vectors, graph, M: parameters.M });
  const textBytes = Math.round(sampledBytes * (count / texts.length)) + 8 * (count + 1);
  const graphSeconds =
    graph === "flat" ? 0 : await timeGraph(encoded, { count, dimensions, parameters, signal });
  return {
    passages: count,
    sampled: texts.length,
    dimensions,
    vectors,
    graph,
    M: parameters.M,
    bytesOnDisk: textBytes + sizes.vectorBytes + sizes.graphBytes,
    textBytes,
    ...sizes,
    seconds: encodingSeconds + graphSeconds,
    encodingSeconds,
    graphSeconds,
  };
}

type Shape = Pick<DensePlan, "passages" | "dimensions" | "vectors" | "graph" | "M">;

function sizesOf({
  passages,
  dimensions,
  vectors,
  graph,
  M,
}: Shape): Pick<DensePlan, "vectorBytes" | "graphBytes" | "temporaryBytes" | "residentBytes"> {
  const vectorBytes = passages * vectorFormat(vectors, dimensions).recordBytes;
  const graphBytes = graph === "flat" ? 0 : hnswBytes(passages, dimensions, M);
  const residentBytes = graph === "flat" ? vectorBytes : hnswMemory(passages, dimensions, M);
  return { vectorBytes, graphBytes, temporaryBytes: vectorBytes, residentBytes };
}

interface GraphTiming {
  count: number;
  dimensions: number;
  parameters: z.output<typeof hnswParameters>;
  signal: AbortSignal | undefined;
}

/** Each vector of a graph costs in proportion to efConstruction and the logarithm of the graph's size. */
async function timeGraph(
  vectors: Float32Array,
  { count, dimensions, parameters, signal }: GraphTiming,
): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), "agentrl-plan-"));
  try {
    const sampled = vectors.length / dimensions;
    const begin = performance.now();
    await buildHnsw(join(folder, "graph.hnsw"), {
      ...parameters,
      efSearch: LEAST_EF_SEARCH,
      count: sampled,
      dimensions,
      signal,
      vectors: (from, to) => vectors.subarray(from * dimensions, to * dimensions),
    });
    const perVector = (performance.now() - begin) / 1000 / sampled;
    // A vector in a graph smaller than efConstruction is compared with all of it, half of it on average.
    const compared = Math.min(sampled / 2, parameters.efConstruction);
    const growth = Math.log2(Math.max(2, count / parameters.efConstruction));
    return perVector * count * (parameters.efConstruction / compared) * Math.max(1, growth / 2);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

export interface DenseLimits {
  /** Where it will be written: its disk's free space counts. */
  out: string;
  /** Bytes that the opened index may hold in memory. Without it only a graph is compared with the free memory. */
  maxMemory?: number | undefined;
  /** Bytes of disk that building may take, instead of what is free. */
  maxDisk?: number | undefined;
}

/**
 * Refuses an index that would not fit, with its size and what would be smaller.
 * @throws {ConfigError} INDEX_TOO_LARGE
 */
export async function refuseUnlessFits(
  plan: DensePlan,
  { out, maxMemory, maxDisk }: DenseLimits,
): Promise<void> {
  const memory = maxMemory ?? (plan.graph === "flat" ? Infinity : availableMemory());
  const disk = maxDisk ?? (await freeDiskBytes(out));
  const wantedDisk = plan.bytesOnDisk + plan.temporaryBytes;
  if (plan.residentBytes > memory)
    throw tooLarge(
      plan,
      `${formatBytes(plan.residentBytes)} of memory`,
      memory,
      (sizes) => sizes.residentBytes,
    );
  if (wantedDisk > disk) {
    const used = (sizes: ReturnType<typeof sizesOf>): number =>
      plan.textBytes + sizes.vectorBytes + sizes.graphBytes + sizes.temporaryBytes;
    throw tooLarge(plan, `${formatBytes(wantedDisk)} of disk during the build`, disk, used);
  }
}

function tooLarge(
  plan: DensePlan,
  wanted: string,
  limit: number,
  costOf: (sizes: ReturnType<typeof sizesOf>) => number,
): ConfigError {
  const choices: string[] = [];
  for (const graph of plan.graph === "hnsw" ? (["hnsw", "flat"] as const) : (["flat"] as const)) {
    for (const vectors of VECTOR_STORAGES) {
      const cost = costOf(sizesOf({ ...plan, graph, vectors }));
      if (cost <= limit)
        choices.push(`--graph ${graph} --vectors ${vectors} (${formatBytes(cost)})`);
    }
  }
  const share = limit / costOf(sizesOf(plan));
  const subset = `the first ${Math.floor(plan.passages * share)} passages`;
  return new ConfigError(
    "INDEX_TOO_LARGE",
    `the index of ${plan.passages} passages needs ${wanted}, but only ${formatBytes(limit)} are available. These would fit: ${[...choices, subset].join("; ")}.`,
  );
}

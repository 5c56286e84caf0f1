import { random } from "../../base/random.ts";
import { type Scored, topK } from "../top-k.ts";
import { blockMaker } from "./dot-products.ts";
import { encodeVectors, vectorFormat } from "./vector-format.ts";
import { CHUNK_BYTES, scanChunk } from "./vector-scan.ts";

/** Candidates that a graph's query looks at unless the vectors need more. */
export const LEAST_EF_SEARCH = 128;

/** Where raising ends: twice the candidates take about twice as long. */
const MOST_EF_SEARCH = 4096;

/** Share of the exact hits that the sample must find: .99 is wanted, and the sample's own error is about .002. */
const RECALL = 0.995;
const K = 10;

/** Vectors that are searched. */
const SAMPLE = 128;

/** A graph that was just built, and its vectors. */
export interface BuiltGraph {
  count: number;
  dimensions: number;
  /** @returns [to − from, D] */
  vectors(from: number, to: number): Float32Array;
  /** @returns at most k, best first. */
  search(query: Float32Array, k: number, efSearch: number): Scored[];
  /** Between stretches of vectors; throws where the build is to end. */
  pause(): Promise<void>;
}

/**
 * How many candidates a query needs: the fewest of 128, 192, 256, 384, … 4 096 by which a sample of the graph's own vectors
 * finds 99.5 % of its ten nearest others. How many that are depends on the vectors, not on their number alone.
 */
export async function chooseEfSearch(graph: BuiltGraph): Promise<number> {
  const { count, dimensions } = graph;
  const draw = random("choose efSearch");
  const sample = Array.from({ length: Math.min(SAMPLE, count) }, () => draw.int(count));
  const queries = new Float32Array(sample.length * dimensions);
  sample.forEach((position, i) => {
    queries.set(graph.vectors(position, position + 1), i * dimensions);
  });
  const thresholds = (await exactHits(graph, queries)).map((hits, i) => {
    const others = hits.filter(({ position }) => position !== sample[i]).slice(0, K);
    return { wanted: others.length, least: others.at(-1)?.score ?? 0 };
  });
  let efSearch = LEAST_EF_SEARCH;
  while (efSearch < MOST_EF_SEARCH) {
    let wanted = 0;
    let found = 0;
    for (const [i, asked] of thresholds.entries()) {
      const query = queries.subarray(i * dimensions, (i + 1) * dimensions);
      const hits = graph.search(query, K + 1, efSearch);
      wanted += asked.wanted;
      found += Math.min(asked.wanted, hits.filter(isAmong(asked.least, sample[i]!)).length);
    }
    if (found >= RECALL * wanted) break;
    efSearch = nextOf(efSearch);
    await graph.pause();
  }
  return efSearch;
}

/** 128, 192, 256, 384, 512, … */
function nextOf(efSearch: number): number {
  const isPower = Number.isInteger(Math.log2(efSearch));
  return isPower ? 1.5 * efSearch : (4 / 3) * efSearch;
}

/** By score: among equal vectors any is right, and the last digits differ between ways of adding up. */
function isAmong(least: number, own: number): (hit: Scored) => boolean {
  const limit = least - 1e-5 * Math.abs(least);
  return ({ position, score }) => position !== own && score >= limit;
}

async function exactHits(graph: BuiltGraph, queries: Float32Array): Promise<Scored[][]> {
  const { count, dimensions } = graph;
  const format = vectorFormat("f32", dimensions);
  const perChunk = Math.min(count, Math.max(1, Math.floor(CHUNK_BYTES / format.recordBytes)));
  const block = blockMaker(format).make(perChunk);
  const selections = Array.from({ length: queries.length / dimensions }, () =>
    topK(K + 1, -Infinity),
  );
  for (let start = 0; start < count; start += perChunk) {
    const end = Math.min(count, start + perChunk);
    block.records.set(encodeVectors(format, graph.vectors(start, end)));
    scanChunk(block, { start, count: end - start }, { queries, dimensions, selections });
    await graph.pause();
  }
  return selections.map((selection) => selection.take());
}

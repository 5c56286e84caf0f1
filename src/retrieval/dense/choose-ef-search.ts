import { random } from "../../base/random.ts";
import { type Scored, topK } from "../top-k.ts";
import { blockMaker } from "./dot-products.ts";
import { encodeVectors, vectorFormat } from "./vector-format.ts";
import { CHUNK_BYTES, scanChunk } from "./vector-scan.ts";

/** Candidates that a graph's query looks at unless the vectors need more. */
export const LEAST_EF_SEARCH = 128;

/** Where raising ends: twice the candidates take about twice as long. */
const MOST_EF_SEARCH = 4096;

/** Share of the exact hits that the queries must find, so that each of the two kinds finds .99. */
const RECALL = 0.995;
const K = 10;

/** Vectors that are held out of the graph and searched for: at most so many, and at most this share of all. */
const MOST_HELD = 128;
const LARGEST_SHARE = 0.05;

export interface BuiltGraph {
  count: number;
  dimensions: number;
  /** Positions of the vectors that it lacks (`heldOut`). */
  held: ReadonlySet<number>;
  /** @returns [to − from, D] */
  vectors: (from: number, to: number) => Float32Array;
  /** @returns at most k, best first. */
  search(query: Float32Array, k: number, efSearch: number): Scored[];
  /** Between stretches of vectors; throws where the build is to end. */
  pause(): Promise<void>;
}

/** Positions of the vectors that are searched for before they are added, the same for the same count; none of a few. */
export function heldOut(count: number): ReadonlySet<number> {
  const size = count <= LEAST_EF_SEARCH ? 0 : Math.min(MOST_HELD, Math.ceil(LARGEST_SHARE * count)); // prettier-ignore
  const draw = random("choose efSearch");
  const held = new Set<number>();
  while (held.size < size) held.add(draw.int(count));
  return held;
}

/**
 * How many candidates a query needs: the fewest of 128, 192, 256, 384, … 4 096 by which queries that the graph has not seen find 99.5 % of
 * their ten nearest. Half of the queries are vectors that it lacks, half lie between two of these, since a question is rarely where passages
 * are: between clusters, paths are longest. A graph's own vectors would find more, because their neighbours were linked to them. How
 * many candidates that are depends on the vectors, not on their number alone.
 */
export async function chooseEfSearch(graph: BuiltGraph): Promise<number> {
  const { dimensions } = graph;
  const queries = unseenQueries(graph);
  const thresholds = (await exactHits(graph, queries)).map((hits) => {
    return { wanted: hits.length, least: hits.at(-1)?.score ?? 0 };
  });
  let efSearch = LEAST_EF_SEARCH;
  while (efSearch < MOST_EF_SEARCH) {
    let wanted = 0;
    let found = 0;
    for (const [i, asked] of thresholds.entries()) {
      const query = queries.subarray(i * dimensions, (i + 1) * dimensions);
      const hits = graph.search(query, K, efSearch);
      wanted += asked.wanted;
      found += Math.min(asked.wanted, hits.filter(isAmong(asked.least)).length);
    }
    if (found >= RECALL * wanted) break;
    efSearch = nextOf(efSearch);
    await graph.pause();
  }
  return efSearch;
}

/** The vectors that the graph lacks, and of each the sum with the next: its direction lies halfway between. */
function unseenQueries({ dimensions, held, vectors }: BuiltGraph): Float32Array {
  const own = [...held].map((position) => vectors(position, position + 1).slice());
  const queries = new Float32Array(2 * own.length * dimensions);
  own.forEach((vector, i) => {
    const next = own[(i + 1) % own.length]!;
    queries.set(vector, 2 * i * dimensions);
    queries.set(
      vector.map((x, d) => x + next[d]!),
      (2 * i + 1) * dimensions,
    );
  });
  return queries;
}

/** 128, 192, 256, 384, 512, … */
function nextOf(efSearch: number): number {
  const isPower = Number.isInteger(Math.log2(efSearch));
  return isPower ? 1.5 * efSearch : (4 / 3) * efSearch;
}

/** By score: among equal vectors any is right, and the last digits differ between ways of adding up. */
function isAmong(least: number): (hit: Scored) => boolean {
  const limit = least - 1e-5 * Math.abs(least);
  return ({ score }) => score >= limit;
}

async function exactHits(graph: BuiltGraph, queries: Float32Array): Promise<Scored[][]> {
  const { count, dimensions, held } = graph;
  const format = vectorFormat("f32", dimensions);
  const perChunk = Math.min(count, Math.max(1, Math.floor(CHUNK_BYTES / format.recordBytes)));
  const block = blockMaker(format).make(perChunk);
  const selections = Array.from({ length: queries.length / dimensions }, () => topK(K, -Infinity));
  for (let start = 0; start < count; start += perChunk) {
    const end = Math.min(count, start + perChunk);
    const seen = seenOf(graph.vectors(start, end), { start, dimensions, held });
    block.records.set(encodeVectors(format, seen));
    const size = seen.length / dimensions;
    scanChunk(block, { start, count: size }, { queries, dimensions, selections });
    await graph.pause();
  }
  return selections.map((selection) => selection.take());
}

function seenOf(
  vectors: Float32Array,
  { start, dimensions, held }: { start: number; dimensions: number; held: ReadonlySet<number> },
): Float32Array {
  const seen = new Float32Array(vectors.length);
  let size = 0;
  for (let at = 0; at < vectors.length; at += dimensions) {
    if (held.has(start + at / dimensions)) continue;
    seen.set(vectors.subarray(at, at + dimensions), size);
    size += dimensions;
  }
  return seen.subarray(0, size);
}

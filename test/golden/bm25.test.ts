import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readJsonl } from "../../src/base/jsonl.ts";
import { readPassages } from "../../src/data/passages.ts";
import { readQrels } from "../../src/data/qrels.ts";
import { evaluateRetrieval } from "../../src/evaluate/retrieval-scores.ts";
import { type RetrievalQuery, readQueries } from "../../src/evaluate/retrieval-sets.ts";
import { type Bm25Retriever, buildBm25 } from "../../src/retrieval/bm25/bm25.ts";
import type { Passage } from "../../src/trajectory/task.ts";

interface GoldenCorpus {
  passages: number;
  terms: number;
  /** Per query id the ten best as [position, score]. */
  hits: Record<string, [number, number][]>;
}

interface Golden {
  tolerance: number;
  k1: number;
  b: number;
  hotpotqa: GoldenCorpus;
  scifact: GoldenCorpus & { metrics: Record<string, number> };
}

const golden = JSON.parse(
  await readFile(new URL("bm25-scores.json", import.meta.url), "utf8"),
) as Golden;

const data = join(import.meta.dirname, "../../../shared/data");
const absent = !existsSync(join(data, "scifact"));
const reason = absent ? " (skipped: ../shared/data is not here)" : "";

async function retrieverOf(path: string): Promise<{ retriever: Bm25Retriever; ids: string[] }> {
  const passages: Passage[] = [];
  for await (const passage of readPassages(path)) passages.push(passage);
  const { k1, b } = golden;
  return { retriever: buildBm25(passages, { k1, b }), ids: passages.map(({ id }) => id) };
}

async function expectGoldenHits(
  { retriever, ids }: { retriever: Bm25Retriever; ids: string[] },
  corpus: GoldenCorpus,
  queries: readonly RetrievalQuery[],
): Promise<void> {
  expect(retriever.segments[0]?.totalLength).toBe(corpus.terms);
  const sampled = queries.filter(({ id }) => corpus.hits[id] !== undefined);
  expect(sampled).toHaveLength(Object.keys(corpus.hits).length);
  const results = await retriever.search(
    sampled.map(({ text }) => text),
    10,
  );
  for (const [i, { id }] of sampled.entries()) {
    const expected = corpus.hits[id]!;
    expect(results[i]!.map((hit) => hit.id)).toEqual(expected.map(([at]) => ids[at]));
    const worst = expected.map(([, score], rank) => Math.abs(results[i]![rank]!.score - score));
    expect(Math.max(...worst)).toBeLessThan(golden.tolerance);
  }
}

describe.skipIf(absent)(`BM25${reason}`, () => {
  it("gives bm25s's hits and scores on HotpotQA's passages", async () => {
    const path = join(data, "hotpotqa/dev-500-paragraphs.jsonl");
    const queries: RetrievalQuery[] = [];
    for await (const { value } of readJsonl(path)) {
      const { question_id: id, question_text: text } = value as Record<string, string>;
      queries.push({ id: id!, text: text! });
    }
    await expectGoldenHits(await retrieverOf(path), golden.hotpotqa, queries);
  });

  it("gives bm25s's hits and scores on SciFact, and the published nDCG within .005", async () => {
    const corpus = await retrieverOf(join(data, "scifact/corpus.jsonl.gz"));
    const queries = await readQueries(join(data, "scifact/queries.tsv"));
    await expectGoldenHits(corpus, golden.scifact, queries);
    const qrels = await readQrels(join(data, "scifact/qrels.txt"));
    const { n, metrics } = await evaluateRetrieval(corpus.retriever, queries, qrels);
    expect(n).toBe(300);
    for (const [name, value] of Object.entries(golden.scifact.metrics)) {
      expect(metrics[name]).toBeCloseTo(value, 9);
    }
    expect(Math.abs(metrics["ndcg@10"]! - 0.679)).toBeLessThan(0.005);
    expect(Math.abs(metrics["recall@100"]! - 0.925)).toBeLessThan(0.005);
  });
});

import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPassages } from "../../src/data/passages.ts";
import { retrievalMetric } from "../../src/evaluate/retrieval-metrics.ts";
import { evaluateRetrieval, scoreRun } from "../../src/evaluate/retrieval-scores.ts";
import { filesSet, readRun, writeRun } from "../../src/evaluate/retrieval-sets.ts";
import { buildBm25 } from "../../src/retrieval/bm25/bm25.ts";
import type { Passage } from "../../src/trajectory/task.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

type Values = Record<string, number>;

interface Golden {
  tolerance: number;
  made: {
    qrels: Record<string, Values>;
    run: Record<string, Values>;
    metrics: Record<string, Values>;
  };
  scifact: { n: number; metrics: Values };
}

const golden = JSON.parse(
  await readFile(new URL("retrieval-metrics.json", import.meta.url), "utf8"),
) as Golden;
const metrics = Object.keys(golden.scifact.metrics).map((name) => retrievalMetric(name, "golden"));

const folder = temporaryFolder();
const scifact = join(import.meta.dirname, "../../../shared/data/scifact");
const absent = !existsSync(scifact);
const reason = absent ? " (skipped: ../shared/data is not here)" : "";

function expectNear(found: Values, expected: Values): void {
  expect(Object.keys(found)).toEqual(Object.keys(expected));
  for (const [name, value] of Object.entries(expected)) {
    expect(Math.abs(found[name]! - value), name).toBeLessThan(golden.tolerance);
  }
}

describe("retrieval metrics beside trec_eval's", () => {
  it("are its own for every query of a run file with ties", async () => {
    const { qrels, run, metrics: expected } = golden.made;
    const path = join(folder, "made.run");
    const lines = Object.entries(run).flatMap(([query, hits]) =>
      Object.entries(hits).map(([id, score], i) => `${query} Q0 ${id} ${i + 1} ${score} made`),
    );
    await writeFile(path, lines.join("\n"));
    const judged = new Map(
      Object.entries(qrels).map(([query, of]) => [query, new Map(Object.entries(of))]),
    );
    const queries = [...judged.keys()].map((id) => ({ id, text: "" }));
    const { perQuery } = scoreRun(await readRun(path), queries, judged, { metrics });
    expect(perQuery.map(({ id }) => id)).toEqual(Object.keys(expected));
    for (const { id, metrics: found } of perQuery) expectNear(found, expected[id]!);
  });

  it.skipIf(absent)(`are its own for BM25 on SciFact${reason}`, async () => {
    const passages: Passage[] = [];
    for await (const passage of readPassages(join(scifact, "corpus.jsonl.gz"))) {
      passages.push(passage);
    }
    const { queries, qrels } = await filesSet(
      join(scifact, "qrels.txt"),
      join(scifact, "queries.tsv"),
    );
    const searched = await evaluateRetrieval(buildBm25(passages), queries, qrels, { metrics });
    expect(searched.n).toBe(golden.scifact.n);
    expectNear(searched.metrics, golden.scifact.metrics);
    // The file that trec_eval was given leads back to the same numbers.
    const path = join(folder, "scifact.run");
    await writeRun(path, searched.run, "bm25");
    expectNear(scoreRun(await readRun(path), queries, qrels, { metrics }).metrics, searched.metrics);
  });
});

import { describe, expect, it } from "vitest";
import { retrievalMetric } from "../../src/evaluate/retrieval-metrics.ts";
import {
  compareRetrieval,
  depthOf,
  evaluateRetrieval,
  type QueryScores,
  scoreRun,
} from "../../src/evaluate/retrieval-scores.ts";
import { buildBm25 } from "../../src/retrieval/bm25/bm25.ts";
import { noneRetriever } from "../../src/retrieval/controls/none.ts";
import type { Retriever } from "../../src/retrieval/retriever.ts";
import type { Task } from "../../src/trajectory/task.ts";

describe("evaluateRetrieval", () => {
  const passages = [
    { id: "1", title: "Oslo", text: "capital of Norway" },
    { id: "2", title: "Lima", text: "capital of Peru" },
  ];
  const queries = [
    { id: "q1", text: "Norway" },
    { id: "q2", text: "unheard of" },
    { id: "q3", text: "Peru" },
  ];

  it("averages over queries with a relevant passage, found or not", async () => {
    const qrels = new Map([
      ["q1", new Map([["1", 1]])],
      ["q2", new Map([["2", 1]])],
      ["q3", new Map([["2", 0]])],
    ]);
    const scores = await evaluateRetrieval(buildBm25(passages), queries, qrels);
    expect(scores.n).toBe(2);
    expect(scores.metrics["ndcg@10"]).toBe(0.5);
    expect(scores.intervals["ndcg@10"]).toEqual([0, 1]);
    expect(scores.perQuery.map(({ id, metrics }) => [id, metrics["hit@5"]])).toEqual([
      ["q1", 1],
      ["q2", 0],
    ]);
  });

  it("changes its fingerprint with the retriever and with the judgements", async () => {
    const qrels = new Map([["q1", new Map([["1", 1]])]]);
    const other = new Map([["q1", new Map([["2", 1]])]]);
    const base = await evaluateRetrieval(buildBm25(passages), queries, qrels);
    const again = await evaluateRetrieval(buildBm25(passages), queries, qrels);
    const k1 = await evaluateRetrieval(buildBm25(passages, { k1: 2 }), queries, qrels);
    const judged = await evaluateRetrieval(buildBm25(passages), queries, other);
    expect(again.fingerprint).toBe(base.fingerprint);
    expect(new Set([base, k1, judged].map(({ fingerprint }) => fingerprint)).size).toBe(3);
  });

  it("scores a run as it scores the search that made it", async () => {
    const qrels = new Map([
      ["q1", new Map([["1", 1]])],
      ["q3", new Map([["1", 1]])],
    ]);
    const searched = await evaluateRetrieval(buildBm25(passages), queries, qrels);
    const run = scoreRun(searched.run, queries, qrels);
    expect({ ...run, fingerprint: "" }).toEqual({ ...searched, run: undefined, fingerprint: "" });
    expect(run.fingerprint).not.toBe(searched.fingerprint);
    // What a run does not rank counts 0.
    expect(scoreRun(new Map(), queries, qrels)).toMatchObject({ n: 2, metrics: { "hit@5": 0 } });
  });

  it("groups questions by hops and tells them to a retriever that reads gold", async () => {
    const tasks = [1, 2, 2, undefined].map((hops, i): Task => ({
      id: `q${i}`,
      question: "Norway",
      references: ["x"],
      source: "s",
      annotations: { hops, supportingPassages: ["1"] },
    }));
    const asked: (string | undefined)[] = [];
    const oracle: Retriever = {
      ...noneRetriever(),
      search(texts, k, { contexts } = {}) {
        asked.push(...texts.map((_, i) => contexts?.[i]?.task.id));
        return Promise.resolve(
          texts.map((_, i) => (i < 2 && k > 0 ? [{ ...passages[0]!, score: 1 }] : [])),
        );
      },
    };
    const { groups } = await evaluateRetrieval(
      oracle,
      tasks.map((task) => ({ id: task.id, text: task.question, task })),
      new Map(tasks.map(({ id }) => [id, new Map([["1", 1]])])),
      { metrics: [retrievalMetric("support@1", "")] },
    );
    expect(asked).toEqual(["q0", "q1", "q2", "q3"]);
    expect(groups.hops).toEqual({
      "1-hop": { n: 1, metrics: { "support@1": 1 } },
      "2-hop": { n: 2, metrics: { "support@1": 0.5 } },
    });
  });

  it("asks for as many hits as the metrics look at", () => {
    const depths = ["hit@5,recall@20", "map,hit@5", "hit@2000,mrr"].map((names) =>
      depthOf(names.split(",").map((name) => retrievalMetric(name, ""))),
    );
    expect(depths).toEqual([20, 1000, 2000]);
  });
});

const scores = (a: number[], b: number[]): QueryScores[] =>
  a.map((value, i) => ({ id: `q${i}`, metrics: { a: value, b: b[i]! } }));

const ones = Array.from({ length: 8 }, () => 1);
const zeros = ones.map(() => 0);
const last = zeros.map((_, i) => Number(i === 7));

describe("compareRetrieval", () => {
  it("gives difference, interval, p, and the p of Holm over the metrics", () => {
    const [a, b] = compareRetrieval(scores(ones, last), scores(zeros, zeros), ["a", "b"], {
      seed: 1,
    });
    // 8 pairs of equal sign: 2 of 256 patterns; doubled for the smaller of two tests.
    expect(a).toEqual({
      metric: "a",
      left: 1,
      right: 0,
      difference: 1,
      ci95: [1, 1],
      p: 2 / 256,
      pHolm: 4 / 256,
      method: "exact",
      verdict: "higher",
    });
    expect(b).toMatchObject({ difference: 0.125, p: 1, pHolm: 1, verdict: "no difference shown" });
  });

  it("takes its verdict from the corrected p", () => {
    // 6 pairs of equal sign: p = 2 / 64 = .031, twice that with a second metric.
    const six = zeros.map((_, i) => Number(i < 6));
    const [alone] = compareRetrieval(scores(zeros, zeros), scores(six, last), ["a"], { seed: 1 });
    expect(alone).toMatchObject({ p: 2 / 64, pHolm: 2 / 64, verdict: "lower" });
    const [beside] = compareRetrieval(scores(zeros, zeros), scores(six, last), ["a", "b"], {
      seed: 1,
    });
    expect(beside).toMatchObject({ p: 2 / 64, pHolm: 4 / 64, verdict: "no difference shown" });
  });
});

/** Real questions through real searches, with a policy that is a rule. Needs ../shared/data; skipped without it. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPassages } from "../../src/data/passages.ts";
import { loadTasks } from "../../src/data/tasks.ts";
import { evaluatePolicy } from "../../src/evaluate/evaluate.ts";
import type { EvaluationRow } from "../../src/evaluate/evaluation-row.ts";
import { buildBm25 } from "../../src/retrieval/bm25/bm25.ts";
import { type CompletionRequest, scriptedPolicy } from "../../src/rollout/policy.ts";
import { GREEDY } from "../../src/rollout/sampling.ts";
import type { Passage } from "../../src/trajectory/task.ts";
import { searchEnvironment, tokenizer } from "../helpers/search-world.ts";

const data = join(import.meta.dirname, "..", "..", "..", "shared", "data");
const FILES = {
  hotpotqa: join(data, "hotpotqa", "dev-500-paragraphs.jsonl"),
  "2wikimultihopqa": join(data, "2wikimultihopqa", "dev-500-paragraphs.jsonl"),
};

/** Searches with the question, then with the title of the best passage that it has not searched for, then answers with that title. */
function rule({ turns, task }: CompletionRequest): string {
  const titles = turns.flatMap(({ observations }) =>
    observations.flatMap(({ text }) =>
      [...text.matchAll(/\(Title: (.*?)\) /g)].map(([, t]) => t ?? ""),
    ),
  );
  if (turns.length === 0) return `<search>${task.question}</search>`;
  if (turns.length === 1) return `<search>${titles[0] ?? ""} ${task.question}</search>`;
  const asked = task.question.toLowerCase();
  const other = titles.find((title) => !asked.includes(title.toLowerCase()));
  return `<answer>${other ?? titles[0] ?? ""}</answer>`;
}

async function measure(file: string) {
  const passages: Passage[] = [];
  for await (const passage of readPassages(file)) passages.push(passage);
  const environment = searchEnvironment(
    { tools: [{ name: "corpus-search", topK: 3 }] },
    buildBm25(passages),
  );
  const rows: EvaluationRow[] = [];
  const summary = await evaluatePolicy({
    policy: scriptedPolicy(tokenizer, rule),
    environment,
    tasks: await loadTasks(file),
    strategy: "agent",
    sampling: GREEDY,
    seed: 1,
    signal: new AbortController().signal,
    onRow: (row) => Promise.resolve(void rows.push(row)),
  });
  return { passages: passages.length, summary, rows };
}

describe.skipIf(!existsSync(data))("real questions (../shared/data)", () => {
  it("HotpotQA: 500 questions, each searched twice and answered, with the evidence that BM25 finds", async () => {
    const { passages, summary, rows } = await measure(FILES.hotpotqa);
    const { n, errors, ends, metrics } = summary;
    expect({ passages, n, errors, ends }).toMatchInlineSnapshot(`
      {
        "ends": {
          "answered": 500,
        },
        "errors": {
          "byCode": {},
          "n": 0,
        },
        "n": 500,
        "passages": 4858,
      }
    `);
    expect(metrics).toMatchObject({
      em: 0.022,
      answer_rate: 1,
      searches: 2,
      turns: 3,
      duplicate_query_rate: 0,
      evidence_recall_1: 0.666,
      evidence_recall: 0.7,
      evidence_all_rate: 0.47,
    });
    expect(rows.every(({ queries, searches }) => queries.length === 2 && searches === 2)).toBe(
      true,
    );
  }, 120_000);

  it("2WikiMultihopQA: the same", async () => {
    const { passages, summary } = await measure(FILES["2wikimultihopqa"]);
    const { n, errors, ends, metrics } = summary;
    expect({ passages, n, errors, ends }).toMatchInlineSnapshot(`
      {
        "ends": {
          "answered": 500,
        },
        "errors": {
          "byCode": {},
          "n": 0,
        },
        "n": 500,
        "passages": 3273,
      }
    `);
    expect(metrics).toMatchObject({
      em: 0,
      answer_rate: 1,
      searches: 2,
      turns: 3,
      duplicate_query_rate: 0,
      evidence_recall_1: 0.635,
      evidence_recall: 0.6505,
      evidence_all_rate: 0.318,
    });
  }, 120_000);
});

import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { evalRetrievalCommand } from "../../src/cli/commands/eval-retrieval.ts";
import type { CliCommand } from "../../src/cli/command.ts";
import { buildIndex } from "../../src/retrieval/bm25/build-index.ts";
import { runCommand } from "../helpers/run-command.ts";
import { naming } from "../helpers/naming.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);

const family: CliCommand = {
  name: "eval",
  register(program, context) {
    return evalRetrievalCommand.register(program.command("eval").summary("measure"), context);
  },
};

const run = (...args: string[]) =>
  runCommand(family, ["eval", "retrieval", ...args.map(placed)], `${folder}/`);

/** As `run`, without the fingerprint, which changes with the index format. */
const shown = async (...args: string[]) => {
  const { stdout, ...rest } = await run(...args);
  return { stdout: stdout.replace(/retrieval-[0-9a-f]{16}/, "retrieval-…"), ...rest };
};

/** Arguments that name a file or folder of the test are written ./so. */
const placed = (arg: string): string => (arg.startsWith("./") ? at(arg.slice(2)) : arg);

const evalRetrieval = (...args: string[]) =>
  run("--index", "./idx", "--queries", "./queries.jsonl", ...args);

const passages = [
  { id: "1", title: "Oslo", text: "capital of Norway" },
  { id: "2", title: "Lima", text: "capital of Peru" },
];

beforeAll(async () => {
  await buildIndex(passages, at("idx"));
  const lines = (records: object[]): string =>
    records.map((record) => JSON.stringify(record)).join("\n");
  const queries = ["Norway", "Peru", "Chad"].map((text, i) => ({ _id: `q${i}`, text }));
  writeFileSync(at("queries.jsonl"), lines(queries));
  writeFileSync(at("qrels.tsv"), "query-id\tcorpus-id\tscore\nq0\t1\t1\nq1\t1\t1\n");
  writeFileSync(at("other.tsv"), "z\t1\t1\n");
  writeFileSync(at("strange.tsv"), "q0\tx\t1\n");
  writeFileSync(at("good.run"), "q0 Q0 1 1 2 good\nq1 Q0 1 1 2 good\n");
  writeFileSync(at("foreign.run"), "z Q0 1 1 2 t\n");
  mkdirSync(at("beir/qrels"), { recursive: true });
  cpSync(at("queries.jsonl"), at("beir/queries.jsonl"));
  cpSync(at("qrels.tsv"), at("beir/qrels/test.tsv"));
  writeFileSync(at("beir/corpus.jsonl"), lines(passages));
  const questions = ["capital of Norway?", "Peru?"].map((question, i) => ({
    id: `q${i}`,
    question,
    references: ["x"],
    annotations: {
      hops: 2 - i,
      supportingPassages: i === 0 ? ["1", "2"] : ["2"],
      context: passages,
    },
  }));
  writeFileSync(at("questions.jsonl"), lines(questions));
});

describe("agentrl eval retrieval", () => {
  it("prints metrics over the judged queries", async () => {
    const queries = ["--index", "./idx", "--queries", "./queries.jsonl"];
    expect(await shown(...queries, "--qrels", "./qrels.tsv")).toMatchInlineSnapshot(`
      {
        "status": 0,
        "stderr": "1 queries without a relevant passage were left out.
      ",
        "stdout": "bm25: 2 queries

                    mean  95 % interval
      ndcg@10     0.5000  0.0000 … 1.0000
      recall@10   0.5000  0.0000 … 1.0000
      recall@100  0.5000  0.0000 … 1.0000
      mrr@10      0.5000  0.0000 … 1.0000
      hit@5       0.5000  0.0000 … 1.0000

      protocol retrieval-…
      ",
      }
    `);
  });

  it("prints one JSON document under --json", async () => {
    const { stdout } = await evalRetrieval("--qrels", "./qrels.tsv", "--json", "--per-query");
    expect(JSON.parse(stdout)).toMatchObject({
      n: 2,
      metrics: { "ndcg@10": 0.5, "recall@100": 0.5 },
      intervals: { "ndcg@10": [0, 1] },
      perQuery: [{ id: "q0" }, { id: "q1" }],
      fingerprint: expect.stringMatching(/^retrieval-[0-9a-f]{16}$/) as string,
    });
  });

  it("measures the metrics asked for, and requires any of them", async () => {
    const asked = ["--qrels", "./qrels.tsv", "--metrics", "map, support@1,precision@2", "--json"];
    const { stdout } = await evalRetrieval(...asked);
    expect(JSON.parse(stdout)).toMatchObject({
      metrics: { map: 0.5, "support@1": 0.5, "precision@2": 0.25 },
    });
    expect((await evalRetrieval(...asked, "--require", "support@1>=0.5")).status).toBe(0);
    expect((await evalRetrieval(...asked, "--require", "map>=0.6")).status).toBe(5);
    const { status, stderr } = await evalRetrieval(...asked, "--require", "ndcg@10>=0.6");
    expect(status).toBe(2);
    expect(stderr).toMatch(
      naming("--require", '"ndcg@10"', "map, support@1, precision@2", "[USAGE]"),
    );
  });

  it("takes a BEIR folder, whose corpus a retriever without an index reads", async () => {
    const { stdout } = await run("--dataset", "./beir", "--retriever", "bm25", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ n: 2, metrics: { "ndcg@10": 0.5 } });
  });

  it("takes questions with supporting passages, and groups them by hops", async () => {
    const questions = ["--questions", "./questions.jsonl", "--metrics", "support@1,recall@2"];
    expect(await shown(...questions, "--retriever", "bm25")).toMatchInlineSnapshot(`
      {
        "status": 0,
        "stderr": "",
        "stdout": "bm25: 2 queries

                   mean  95 % interval    1-hop (1)  2-hop (1)
      support@1  0.5000  0.0000 … 1.0000     1.0000     0.0000
      recall@2   1.0000  1.0000 … 1.0000     1.0000     1.0000

      protocol retrieval-…
      ",
      }
    `);
    const { stdout } = await run(...questions, "--index", "./idx", "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      groups: { hops: { "1-hop": { n: 1, metrics: { "support@1": 1 } } } },
    });
  });

  it("says that a retriever which reads gold is a control", async () => {
    const oracle = ["--questions", "./questions.jsonl", "--retriever", "oracle"];
    const asked = [...oracle, "--metrics", "support@2"];
    expect((await run(...asked)).stdout).toContain("a control, not a result");
    const { stdout } = await run(...asked, "--json");
    expect(JSON.parse(stdout)).toMatchObject({ metrics: { "support@2": 1 }, readsGold: true });
  });

  it("writes a run that scores as the search did", async () => {
    const searched = await evalRetrieval("--qrels", "./qrels.tsv", "--run-out", "./out.run");
    expect(searched.status).toBe(0);
    expect(readFileSync(at("out.run"), "utf8")).toMatch(/^q0 Q0 1 1 \S+ bm25\n/);
    const scored = await run("--run", "./out.run", "--qrels", "./qrels.tsv");
    const numbers = (text: string): string[] => text.split("\n").slice(2, -3);
    expect(numbers(scored.stdout)).toEqual(numbers(searched.stdout));
    expect(numbers(scored.stdout)).toHaveLength(6);
  });

  it("tests against another run", async () => {
    const args = ["--qrels", "./qrels.tsv", "--metrics", "mrr@10", "--compare", "./good.run"];
    const queries = ["--index", "./idx", "--queries", "./queries.jsonl"];
    expect((await shown(...queries, ...args)).stdout).toMatchInlineSnapshot(`
      "bm25: 2 queries

                mean  95 % interval
      mrr@10  0.5000  0.0000 … 1.0000

      protocol retrieval-…
      compared with good.run

              theirs  difference  95 % interval          p    Holm  verdict
      mrr@10  1.0000     −0.5000  −1.0000 … 0.0000  1.0000  1.0000  no difference shown

      p: paired permutation test over queries; Holm: corrected for the number of metrics, level .05
      no difference shown: the two may still differ
      "
    `);
    const { stdout } = await evalRetrieval(...args, "--json");
    expect(JSON.parse(stdout)).toMatchObject({
      compare: {
        with: "good.run",
        metrics: [{ metric: "mrr@10", left: 0.5, right: 1, difference: -0.5, p: 1, pHolm: 1 }],
      },
    });
  });

  it("says when passages and judgements do not seem to belong together", async () => {
    const { stderr, status } = await evalRetrieval("--qrels", "./strange.tsv");
    expect(status).toBe(0);
    expect(stderr).toContain("No hit of any query is judged");
  });

  it.each([
    ["./other.tsv", "[QRELS_UNMATCHED]", []],
    ["./qrels.tsv", "--compare foreign.run: ranks none of", ["--compare", "./foreign.run"]],
    ["./qrels.tsv", "[RUN_BAD_LINE]", ["--compare", "./other.tsv"]],
  ])("ends with 3 on %s: %s", async (qrels, message, more) => {
    const { stderr, status } = await evalRetrieval("--qrels", qrels, ...more);
    expect({ status, stderr }).toEqual({
      status: 3,
      stderr: expect.stringContaining(message) as string,
    });
  });

  it("names the code of a run of other queries", async () => {
    const { stderr } = await run("--run", "./foreign.run", "--qrels", "./qrels.tsv");
    expect(stderr).toContain("[RUN_UNMATCHED]");
  });

  it.each([
    [["--qrels", "q"], "--index or --retriever is missing"],
    [["--run", "r", "--index", "i", "--qrels", "q"], "--run and --index are both given"],
    [["--run", "r", "--depth", "5", "--qrels", "q"], "--run and --depth are both given"],
    [["--index", "i"], "--dataset, --questions or --queries with --qrels is missing"],
    [["--index", "i", "--queries", "q"], "--qrels is missing"],
    [["--index", "i", "--qrels", "q"], "--queries is missing"],
    [["--index", "i", "--dataset", "d", "--questions", "q"], "--dataset and --questions are both"],
    [["--run", "r", "--qrels", "q", "--split", "dev"], "--split is given without --dataset"],
    [["--run", "r", "--qrels", "q", "--metrics", "map,recal@5"], 'Did you mean "recall@k"?'],
    [["--index", "i", "--dataset", "d", "--depth", "20"], "--depth is 20, but recall@100 looks"],
  ])("ends with 2 on %j", async (args, message) => {
    const { stderr, status } = await run(...args);
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringContaining(message) as string,
    });
  });
});

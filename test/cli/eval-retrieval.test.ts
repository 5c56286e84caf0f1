import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { addEvalRetrieval } from "../../src/cli/commands/eval-retrieval.ts";
import type { CliCommand } from "../../src/cli/command.ts";
import { buildIndex } from "../../src/retrieval/bm25/build-index.ts";
import { runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);

const family: CliCommand = {
  name: "eval",
  register(program, context) {
    addEvalRetrieval(program.command("eval").summary("measure"), context);
  },
};

const evalRetrieval = (...args: string[]) =>
  runCommand(family, [
    ...["eval", "retrieval", "--index", at("idx"), "--queries", at("queries.jsonl")],
    ...args,
  ]);

beforeAll(async () => {
  await buildIndex(
    [
      { id: "1", title: "Oslo", text: "capital of Norway" },
      { id: "2", title: "Lima", text: "capital of Peru" },
    ],
    at("idx"),
  );
  const queries = ["Norway", "Peru", "Chad"].map((text, i) =>
    JSON.stringify({ _id: `q${i}`, text }),
  );
  writeFileSync(at("queries.jsonl"), queries.join("\n"));
  writeFileSync(at("qrels.tsv"), "query-id\tcorpus-id\tscore\nq0\t1\t1\nq1\t1\t1\n");
  writeFileSync(at("other.tsv"), "z\t1\t1\n");
});

describe("agentrl eval retrieval", () => {
  it("prints metrics over the judged queries", async () => {
    const { stdout, stderr, status } = await evalRetrieval("--qrels", at("qrels.tsv"));
    expect({ stdout, status }).toMatchInlineSnapshot(`
      {
        "status": 0,
        "stdout": "2 queries
      ndcg@10     0.5000
      recall@10   0.5000
      recall@100  0.5000
      mrr@10      0.5000
      hit@5       0.5000
      ",
      }
    `);
    expect(stderr).toBe("1 queries without a relevant passage were left out.\n");
  });

  it("prints one JSON document under --json", async () => {
    const { stdout } = await evalRetrieval("--qrels", at("qrels.tsv"), "--json", "--per-query");
    expect(JSON.parse(stdout)).toMatchObject({
      n: 2,
      metrics: { "ndcg@10": 0.5, "recall@100": 0.5 },
      perQuery: [{ id: "q0" }, { id: "q1" }],
    });
  });

  it("ends with 5 when a required score is missed", async () => {
    const args = ["--qrels", at("qrels.tsv"), "--require", "ndcg@10>=0.6"];
    expect((await evalRetrieval(...args)).status).toBe(5);
  });

  it("ends with 3 when judgements and queries do not belong together", async () => {
    const { stderr, status } = await evalRetrieval("--qrels", at("other.tsv"));
    expect(status).toBe(3);
    expect(stderr).toContain("[QRELS_UNMATCHED]");
  });
});

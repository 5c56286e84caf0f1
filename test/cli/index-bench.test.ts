import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { madeCorpus } from "../helpers/made-corpus.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const indexCommand = commandNamed("index");

const cwd = temporaryFolder();
const bench = (...args: string[]) =>
  runCommand(
    indexCommand,
    [
      "index",
      ...["bench", "--seconds", "0.1"],
      ...args.map((arg) => (arg.startsWith("./") ? join(cwd, arg) : arg)),
    ],
    `${cwd}/`,
  );

beforeAll(async () => {
  const lines = madeCorpus({ count: 200, seed: 1 }).map((each) => `${JSON.stringify(each)}\n`);
  writeFileSync(join(cwd, "corpus.jsonl"), lines.join(""));
  writeFileSync(join(cwd, "queries.tsv"), "1\tw1 w2\n2\tw3\n3\tunheard\n");
  const out = join(cwd, "idx");
  await runCommand(indexCommand, ["index", "build", join(cwd, "corpus.jsonl"), "--out", out]);
});

describe("agentrl index bench", () => {
  it("measures an index: rates, latencies, and recall against the formula", async () => {
    const { stdout, stderr, status } = await bench("./idx");
    // On a busy machine it warns of slow searches.
    expect({ status, stderr: stderr.replace(/^warning: a batch.*\n/, "") }).toEqual({
      status: 0,
      stderr: "",
    });
    expect(stdout.replaceAll(/\b\d[\d,]*(\.\d+)?(?= )/g, "N").replaceAll(/ +/g, " ")).toBe(
      [
        "queries/s N N at once, N different ones",
        "p50 N ms one at a time",
        "p99 N ms",
        "recall@N N against the formula on every passage, N queries",
        "",
      ].join("\n"),
    );
  });

  it("gives one JSON document", async () => {
    const args = ["--queries", "./queries.tsv", "-k", "3", "--json"];
    const result = JSON.parse((await bench("./idx", ...args)).stdout) as Record<string, unknown>;
    expect(result).toMatchObject({
      retriever: "bm25",
      queries: 3,
      k: 3,
      batch: 64,
      warning: null,
      recall: { value: 1, queries: 3, against: "the formula on every passage" },
    });
    for (const key of ["queriesPerSecond", "p50Ms", "p99Ms", "timed", "seconds"]) {
      expect(result[key]).toBeGreaterThan(0);
    }
    expect(result["p99Ms"]).toBeGreaterThanOrEqual(result["p50Ms"] as number);
    const none = await bench("./idx", "--recall-queries", "0", "--json");
    expect(JSON.parse(none.stdout)).toMatchObject({ recall: { value: null, queries: 0 } });
  });

  it("measures any retriever, and warns of one that keeps rollouts waiting", async () => {
    const slow = "{ name: faulty, of: { name: none }, latencyMs: 400 }";
    const { stdout, stderr } = await bench("--retriever", slow, "--queries", "./queries.tsv");
    expect(stdout).toMatch(/recall@10 +– +no exact search is known for/);
    expect(stderr).toMatch(/^warning: a batch of 256 rollouts waits \d+\.\d s for its searches/);
  });

  it("ends with 2 when there is nothing to measure or to ask", async () => {
    expect((await bench()).status).toBe(2);
    const none = await bench("--retriever", "none");
    expect(none.status).toBe(2);
    expect(none.stderr).toContain("--queries is missing: a none retriever has no passages");
  });
});

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { naming } from "../helpers/naming.ts";

const evalCommand = commandNamed("eval");

const cwd = temporaryFolder();
const compare = (runs: readonly string[], ...args: string[]) => {
  const paths = runs.map((run) => run.split(",").map((each) => join(cwd, each)).join()); // prettier-ignore
  return runCommand(evalCommand, ["eval", "compare", ...paths, ...args], `${cwd}/`);
};

const protocol = {
  dataset: "files-1",
  questions: 60,
  retriever: "bm25-1",
  strategy: "agent",
  topK: { "tools.0.topK": 2 },
  metrics: "squad-2",
};

/** An evaluation of sixty questions whose answers a rule makes right or wrong. */
function writeRun(name: string, right: (i: number) => boolean, changes: object = {}): void {
  const rows = Array.from({ length: 60 }, (_, i) => ({
    id: `q${i}`,
    sample: 0,
    question: `What is number ${i}?`,
    references: [`${i}`],
    answer: right(i) ? `${i}` : "none",
    em: Number(right(i)),
    f1: right(i) ? 1 : 0.25,
    hops: 2 + (i % 2),
  }));
  mkdirSync(join(cwd, name), { recursive: true });
  const lines = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  writeFileSync(join(cwd, name, "rows.jsonl"), lines);
  const results = { fingerprint: name, protocol: { ...protocol, ...changes }, dataset: "hotpotqa" };
  const policy = { from: "Qwen/Qwen2.5-3B" };
  writeFileSync(join(cwd, name, "results.json"), JSON.stringify({ ...results, policy }));
}

beforeAll(() => {
  writeRun("a", (i) => i % 3 > 0);
  writeRun("b", (i) => i % 3 > 1 || i === 0);
  writeRun("dense", (i) => i % 3 > 0, { retriever: "dense-1" });
});

describe("agentrl eval compare", () => {
  it("shows differences, their precision, right and wrong, groups, and what changed", async () => {
    const { stdout, status, stderr } = await compare(["a", "b"], "--changed", join(cwd, "c.jsonl"));
    expect({ stdout, status, stderr }).toMatchInlineSnapshot(`
      {
        "status": 0,
        "stderr": "21 changed questions written to c.jsonl
      ",
        "stdout": "A          a
      B          b
      questions  60 questions compared

              A      B   A − B  95 % interval         p   Holm  A is
      em  0.667  0.350  +0.317  +0.183 … +0.450  <.0001  .0002  higher
      f1  0.750  0.512  +0.237  +0.138 … +0.338  <.0001  .0002  higher

      standard error of       A       B   A − B  effect dz     h  detectable
      em                 0.0614  0.0621  0.0651       0.63  0.64       0.185
      f1                 0.0460  0.0466  0.0488       0.63     –       0.139

      em: both right 20, only A 20, only B 1, neither 19; McNemar's exact p <.0001

      group   n          A      B   A − B  95 % interval
      2-hop  30  em  0.667  0.367  +0.300  +0.100 … +0.500
                 f1  0.750  0.525  +0.225  +0.075 … +0.375
      3-hop  30  em  0.667  0.333  +0.333  +0.167 … +0.500
                 f1  0.750  0.500  +0.250  +0.125 … +0.375

      em: A is better on 20 questions, worse on 1

      +  What is number 1?
      +  What is number 4?
      +  What is number 7?
      −  What is number 0?

      --changed FILE.jsonl writes all of them
      p: paired permutation test over questions; Holm: corrected for 2 tests
      A is: by the corrected p, at level .05
      detectable: the smallest true difference that the test finds with probability .8
      ",
      }
    `);
    const lines = readFileSync(join(cwd, "c.jsonl"), "utf8").trim().split("\n");
    expect(lines).toHaveLength(21);
    expect(JSON.parse(lines[0]!)).toEqual({
      id: "q0",
      change: "lost",
      metric: "em",
      question: "What is number 0?",
      references: ["0"],
      hops: "2-hop",
      left: { run: join(cwd, "a"), value: 0, answers: ["none"] },
      right: { run: join(cwd, "b"), value: 1, answers: ["0"] },
    });
  });

  it("fits 80 columns", async () => {
    const { stdout } = await compare(["a", "b"]);
    for (const line of stdout.split("\n")) expect(line.length, line).toBeLessThanOrEqual(80);
  });

  it("writes Markdown tables, and one JSON document", async () => {
    const { stdout } = await compare(["a", "b"], "--format", "md");
    expect(stdout).toContain("| em | 0.667 | 0.350 | +0.317 |");
    expect(stdout).toContain("\n| :-- | --: | --: |");
    const json = await compare(["a", "b"], "--json", "--metrics", "em");
    expect(JSON.parse(json.stdout)).toMatchObject({
      comparisons: [
        {
          questions: { compared: 60, leftOut: 0, onlyLeft: 0, onlyRight: 0 },
          metrics: [{ metric: "em", agreement: { both: 20, onlyLeft: 20, onlyRight: 1 } }],
          changed: { metric: "em", lost: ["q0"] },
        },
      ],
      protocol: { differences: [], unknown: [] },
      tests: 1,
      seed: 0,
    });
  });

  it("ends with 2 where protocols differ, unless that is meant, and then says so", async () => {
    const refused = await compare(["a", "dense"]);
    expect(refused).toMatchObject({ status: 2, stdout: "" });
    expect(refused.stderr).toContain('retriever: "bm25-1" ≠ "dense-1" (dense)');
    expect(refused.stderr).toContain("--across retriever. [COMPARE_UNLIKE]");
    const meant = await compare(["a", "dense"], "--across", "retriever");
    expect(meant.status).toBe(0);
    expect(meant.stdout).toMatch(
      /where --across allows it \(A first\):\n- retriever: "bm25-1" ≠ "dense-1"/,
    );
  });

  it("takes several runs of a system as one side", async () => {
    const { stdout, status } = await compare(["a,dense", "b"], "--across", "retriever");
    expect(status).toBe(0);
    expect(stdout).toMatch(/^A +a,dense$/m);
    expect(stdout).toContain("Several runs: intervals resample runs and questions");
  });

  it("holds a run against a paper's table, and says where the protocols are known to differ", async () => {
    const { stdout, status } = await compare(["a"], "--paper", "search-r1", "--row", "RAG");
    expect({ stdout, status }).toMatchInlineSnapshot(`
      {
        "status": 0,
        "stdout": "a
      em 0.667, 95 % interval 0.541 … 0.773 (wilson), 60 questions
      table-2, HotpotQA

           model       published     gap  95 % interval    inside
      RAG  Qwen2.5-7B      0.299  +0.368  +0.242 … +0.474  no
      RAG  Qwen2.5-3B      0.255  +0.412  +0.286 … +0.518  no

      gap: ours minus published, which is treated as exact (--n makes it a sample).
      The protocols differ:
      - tools.0.topK: ours 2, theirs 3
      Not known of both sides: corpus, retriever, prompt, n.
      ",
      }
    `);
  });

  it("holds a run against a number, as a second sample where its n is known", async () => {
    const { stdout } = await compare(["a"], "--published", ".480", "--n", "7405");
    expect(stdout).toMatchInlineSnapshot(`
      "a
      em 0.667, 95 % interval 0.541 … 0.773 (wilson), 60 questions

                 published     gap  95 % interval
      published      0.480  +0.187  +0.060 … +0.293

      gap: ours minus published; the interval treats both as samples.
      The protocols differ:
      - questions: ours 60, theirs 7405
      Not known of both sides: model, corpus, retriever, top-k, prompt.
      "
    `);
    const percent = await compare(["a"], "--published", "48", "--n", "7405");
    expect([percent.status, percent.stderr]).toEqual([
      2,
      expect.stringContaining("--published is 48; em is a share from 0 to 1."),
    ]);
    const json = await compare(["a"], "--published", ".6", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      comparisons: [{ ours: { metric: "em", n: 60 }, gaps: [{ inside: true, twoSample: null }] }],
    });
  });

  it("says what is missing or does not go together", async () => {
    const alone = await compare(["a"]);
    expect(alone.stderr).toMatch(naming("only", "[USAGE]"));
    expect((await compare(["a", "b"], "--paper", "search-r1")).status).toBe(2);
    expect((await compare(["a", "b"], "--n", "7")).status).toBe(2);
    const column = await compare(["a"], "--paper", "search-r1", "--column", "Hotpot");
    expect(column.stderr).toContain('Did you mean "HotpotQA"?');
    const row = await compare(["a"], "--paper", "search-r1", "--row", "RAGG");
    expect(row.stderr).toContain('Did you mean "RAG"?');
    const base = await compare(["a"], "--paper", "base-policy");
    expect(base.stderr).toContain("has no paperTables of em or f1");
  });
});

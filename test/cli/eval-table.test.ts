import { cpSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { PaperTableRow } from "../../src/experiment/paper-table/paper-table.ts";
import { chatServer, lastMessage } from "../helpers/chat-server.ts";
import { localServer } from "../helpers/local-server.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const cwd = temporaryFolder();
const at = (...names: string[]): string => join(cwd, ...names);

/** Questions of each made-up set, and how many of them the policy answers rightly. */
const QUESTIONS = 8;
const RIGHT: Readonly<Record<string, number>> = {
  nq: 4,
  triviaqa: 2,
  popqa: 6,
  hotpotqa: 8,
  "2wikimultihopqa": 0,
  musique: 2,
  bamboogle: 4,
};
const DEV = ["hotpotqa", "2wikimultihopqa", "musique"];

/** A downloaded set as its card describes it: FlashRAG's lines. */
function writeSet(name: string): void {
  const split = DEV.includes(name) ? "dev" : "test";
  const file = at("data", name, "flashrag", `${split}.jsonl`);
  const lines = Array.from({ length: QUESTIONS }, (_, i) => {
    const record = { id: `${split}_${i}`, question: `${name} number ${i}?` };
    return `${JSON.stringify({ ...record, golden_answers: ["Town"] })}\n`;
  });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, lines.join(""));
  const origin = { url: "http://x/y", sha256: "0".repeat(64), layout: "flashrag", license: "none" };
  const bytes = statSync(file).size;
  writeFileSync(`${file}.origin.json`, JSON.stringify({ ...origin, bytes, records: QUESTIONS }));
}

const evalCommand = commandNamed("eval");
const table = (...args: string[]) => runCommand(evalCommand, ["eval", "table", ...args], `${cwd}/`);
const asJson = async (...args: string[]): Promise<PaperTableRow> => {
  const { stdout, stderr, status } = await table(...args, "--json");
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return JSON.parse(stdout) as PaperTableRow;
};
/** The folder in which `eval` keeps the sets of one policy. */
let whole = "";

beforeAll(async () => {
  vi.stubEnv("AGENTRL_DATA", at("data"));
  const policy = await chatServer((asked) => {
    const [, name = "", number = ""] = /(\w+) number (\d+)\?\s*$/.exec(lastMessage(asked)) ?? [];
    return `<answer>${Number(number) < (RIGHT[name] ?? 0) ? "Town" : "none"}</answer>`;
  });
  const retriever = await localServer((_, response) => {
    response.writeHead(404).end();
  });
  Object.keys(RIGHT).forEach(writeSet);
  const evaluated = await runCommand(evalCommand, [
    ...["eval", "--policy", `${policy.url}/v1`, "--model", "step-500", "--out", at("ev7")],
    ...["--dataset", Object.keys(RIGHT).join(","), "--recipe", "search-r1", "--tier", "paper"],
    ...["--set", `retriever.url=${retriever.url}`, "--json"],
  ]);
  expect(evaluated.status, evaluated.stderr).toBe(0);
  expect(evaluated.stderr).toContain(`eval table ${at("ev7")} --paper search-r1`);
  whole = at("ev7", `${policy.url.replace("http://", "").replace(":", "_")}_v1_step-500`);
});

describe("agentrl eval table", () => {
  it("writes seven cells and their average, each with an interval, beside the paper's rows", async () => {
    const found = await asJson(at("ev7"), "--paper", "search-r1");
    expect(found.cells.map(({ column, dataset, value }) => [column, dataset, value])).toEqual([
      ["NQ", "nq:test", 0.5],
      ["TriviaQA", "triviaqa:test", 0.25],
      ["PopQA", "popqa:test", 0.75],
      ["HotpotQA", "hotpotqa:dev", 1],
      ["2Wiki", "2wikimultihopqa:dev", 0],
      ["MuSiQue", "musique:dev", 0.25],
      ["Bamboogle", "bamboogle:test", 0.5],
    ]);
    // Wilson's for 4 of 8, and for 0 of 8.
    expect(found.cells[0]?.ci95?.map((end) => end.toFixed(4))).toEqual(["0.2152", "0.7848"]);
    expect(found.cells[4]?.ci95?.map((end) => end.toFixed(4))).toEqual(["0.0000", "0.3244"]);
    // 3.25 / 7. Down: √(2 · .2848² + 2 · .1785² + .3407² + .3244² + 0²) / 7; up likewise with the other ends.
    expect(found.average?.value).toBeCloseTo(3.25 / 7, 12);
    expect(found.average?.ci95?.map((end) => end.toFixed(4))).toEqual(["0.3687", "0.5684"]);
    expect(found).toMatchObject({
      table: { id: "table-2", model: "Qwen2.5-7B", metric: "em" },
      row: "Search-R1-base (GRPO)",
      missing: [],
      average: { published: 0.35, inside: false },
      others: ["--table table-2 --model Qwen2.5-3B", "--table table-4 --model Qwen2.5-7B"],
    });
    expect(found.rows).toHaveLength(13);
    expect(found.rows[0]).toEqual({
      name: "Direct",
      values: [0.134, 0.408, 0.14, 0.183, 0.25, 0.031, 0.12, 0.181],
    });
  });

  it("names what the evaluations have otherwise than the paper", async () => {
    const { differences, unseen } = await asJson(at("ev7"), "--paper", "search-r1");
    expect(differences.map(({ part }) => part)).toEqual(["questions", "prompt format"]);
    expect(differences[0]?.found[0]).toEqual({ columns: ["NQ"], ours: "8", theirs: "3,610" });
    expect(unseen).toEqual([expect.stringContaining("model (ours: step-500 @ "), "corpus"]);
    // An evaluation of another protocol.
    const text = readFileSync(join(whole, "nq", "results.json"), "utf8");
    const results = JSON.parse(text) as { protocol: { sampling: object } };
    mkdirSync(at("other"), { recursive: true });
    const protocol = {
      ...results.protocol,
      retriever: "bm25-0123456789abcdef",
      sampling: { ...results.protocol.sampling, temperature: 0.7 },
    };
    const changed = {
      ...results,
      ...{ dataset: "nq:dev", samplesPerTask: 4, policy: { from: "a/folder" }, protocol },
      errors: { n: 2, byCode: { TIMEOUT: 2 } },
    };
    writeFileSync(at("other", "results.json"), JSON.stringify(changed));
    const run = {
      stages: [{ name: "evaluate", do: "evaluate", number: 1, options: { limit: 8 } }],
    };
    writeFileSync(at("other", "run.json"), JSON.stringify(run));
    const args = [at("other"), join(whole, "popqa"), "--paper", "search-r1"];
    const other = await asJson(...args, "--metric", "f1");
    const ofNq = other.differences.flatMap(({ part, found }) =>
      found.flatMap(({ columns, ours, theirs }) =>
        columns.includes("NQ") ? [`${part}: ${ours}, ${theirs}`] : [],
      ),
    );
    expect(ofNq).toEqual([
      "metric: f1, em",
      "dataset: nq:dev, nq:test",
      "questions: 8 (--limit 8), 3,610",
      "failed draws: 2, not measured, 0",
      "samples: 4, 1",
      "retriever: bm25, search-r1-server",
      "sampling.temperature: 0.7, 0",
      "prompt format: chat template, plain text",
      "policy: a/folder, one policy for all sets",
    ]);
    expect(other.unseen.at(-1)).toBe("corpus (ours: 2 retrievers)");
  });

  it("has no average where a set is missing, and says which and how to measure it", async () => {
    cpSync(whole, at("six"), { recursive: true });
    rmSync(at("six", "popqa", "results.json"));
    const { stdout, stderr, status } = await table(at("six"), "--paper", "search-r1");
    expect(status).toBe(0);
    expect(stderr).toContain("six/popqa: is not finished and left out; `agentrl resume");
    expect(stdout).toMatch(/^ours +0\.500 +0\.250 +– +1\.000 +0\.000 +0\.250 +0\.500 +–$/m);
    expect(stdout).toMatch(/^PopQA +– +missing$/m);
    expect(stdout).toContain("No average: PopQA is missing.");
    expect(stdout).toMatch(/--dataset popqa --recipe search-r1 --tier paper --out six\/popqa/);
  });

  it("takes single folders, a named column, another table, row, metric and name, and writes Markdown", async () => {
    const args = [join(whole, "nq"), `2Wiki=${join(whole, "hotpotqa")}`, "--paper", "search-r1"];
    const { stdout } = await table(
      ...[...args, "--model", "Qwen2.5-3B", "--row", "RAG", "--name", "mine", "--format", "md"],
    );
    expect(stdout).toContain("table-2, Qwen2.5-3B, Exact match of Search-R1 and baselines (em)");
    expect(stdout).toContain("| **mine** | **0.500** | **–** | **–** | **–** | **1.000** |");
    expect(stdout).toContain("| NQ | 0.500 | 0.215 … 0.785 | 8 of 3,610 | 0.348 | +0.152 | yes |");
    expect(stdout).toContain("dataset: ours hotpotqa:dev, theirs 2wikimultihopqa:dev (2Wiki)");
    // A column that no dataset is named like; one evaluation of the folder has no column.
    const other = await table(at("ev7"), "--paper", "inforage");
    expect(other.stdout).toContain(
      'No dataset of agentrl is named like own: give the evaluation as "own=FOLDER".',
    );
    const four = await table(at("ev7"), "--paper", "r1-searcher");
    expect(four.stdout).toMatch(/^Not in the table: .*nq:test.*popqa:test.*triviaqa:test\)\.$/m);
    expect(four.stdout).not.toContain("average");
    // Its first table is of other things; no claim's own arm has a cell in the other one.
    const fitting = await table(at("ev7"), "--paper", "multi-turn-rl-agent");
    expect(fitting.stdout).toMatch(/^ +NQ +TriviaQA +PopQA +HotpotQA +2Wiki +MuSiQue +average$/m);
  });

  it("refuses two evaluations of one column, and what fits no table, column, row or metric", async () => {
    const nq = join(whole, "nq");
    cpSync(nq, at("again"), { recursive: true });
    const failed = async (...args: string[]): Promise<string> => {
      const { stderr, status, stdout } = await table(...args);
      expect([status, stdout]).toEqual([expect.any(Number), ""]);
      expect(status).not.toBe(0);
      return stderr;
    };
    const r1 = ["--paper", "search-r1"];
    expect(await failed(nq, at("again"), ...r1)).toMatch(
      /\/nq \(nq:test\) and again \(nq:test\) are both of the column NQ.*\[RESULTS_TWICE\]/,
    );
    expect(await failed(nq, "--paper", "r1-searcher")).toMatch(/nq:test.*"HotpotQA=.*\[USAGE\]/);
    expect(await failed(`Wiki=${nq}`, ...r1)).toMatch(/no column "Wiki".*Did you mean "2Wiki"/);
    expect(await failed(`NQ=${at("ev7")}`, ...r1)).toContain("holds 7 evaluations");
    expect(await failed(nq, ...r1, "--table", "table-9")).toMatch(/Known: table-2, table-4/);
    expect(await failed(nq, ...r1, "--model", "Qwen")).toMatch(/Known: Qwen2.5-7B, Qwen2.5-3B/);
    expect(await failed(nq, ...r1, "--row", "RAGG")).toContain('Did you mean "RAG"?');
    expect(await failed(nq, ...r1, "--metric", "em2")).toMatch(/Known: em, f1.*\[COMPARE_METRIC\]/);
    expect(await failed(nq, "--paper", "base-policy")).toContain("has no paperTables");
    expect(await failed(at("none"), ...r1)).toContain("there is no such file or folder");
    expect(await failed(at("data"), ...r1)).toMatch(/has a results\.json.*\[FILE_MISSING\]/);
  });
});

describe("a folder of several evaluations", () => {
  it("is named by eval compare with the command that reads all, and shown by a report", async () => {
    const args = ["eval", "compare", at("ev7"), "--paper", "search-r1"];
    const { stderr, status } = await runCommand(evalCommand, args, `${cwd}/`);
    expect(status).toBe(3);
    expect(stderr).toMatch(/ev7: has no rows\.jsonl itself and holds 7 evaluations: .*\/2wiki/);
    expect(stderr).toContain("`agentrl eval table ev7 --paper RECIPE`");
    for (const [command, name] of [["report"], ["eval", "report"]] as const) {
      const shown = [command, ...(name === undefined ? [] : [name]), at("ev7"), "--format", "md"];
      const { stdout } = await runCommand(commandNamed(command), shown);
      expect(stdout).toContain("nq:test, popqa:test, triviaqa:test");
    }
  });
});

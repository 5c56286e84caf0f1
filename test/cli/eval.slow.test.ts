import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { buildIndex } from "../../src/retrieval/bm25/build-index.ts";
import { loadTokenizer } from "../../src/text/tokenizer.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { writeTinyModel } from "../helpers/tiny-model.ts";

const evalCommand = commandNamed("eval");

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);

/** A policy of random weights on two questions, four messages of eight tokens at most. */
const evaluate = (...args: string[]) =>
  runCommand(
    evalCommand,
    [
      ...["eval", "--recipe", at("tiny.yaml"), ...args],
      ...(args.includes("--policy") ? [] : ["--policy", at("policy")]),
    ],
    `${folder}/`,
  );

const RECIPE = `
summary: Two turns of eight tokens.
base:
  environment:
    name: search-qa
  budgets:
    - { scope: trajectory, unit: turns, limit: 2, onExhausted: final-turn }
    - { scope: turn, unit: tokens, limit: 8, onExhausted: cut }
    - { scope: observation, unit: tokens, limit: 20, onExhausted: cut }
  evaluation:
    dataset: { name: tinyworld, split: test, people: 20, questions: 3 }
  engine: { workers: 1, slots: 4 }
tiers: { smoke: {} }
`;

beforeAll(async () => {
  await writeTinyModel(at("policy"));
  writeFileSync(at("tiny.yaml"), RECIPE);
  const questions = ["Norway", "Peru"].map((country, i) => ({
    _id: `q${i}`,
    question: `Capital of ${country}?`,
    answer: i === 0 ? "Oslo" : "Lima",
    type: i === 0 ? "bridge" : "comparison",
    supporting_facts: [[country, 0]],
    context: [[country, [`${country} has a capital.`]]],
  }));
  const lines = (records: object[]): string =>
    records.map((record) => `${JSON.stringify(record)}\n`).join("");
  writeFileSync(at("questions.jsonl"), lines(questions));
  const bare = questions.map(({ context: _, ...rest }) => rest);
  writeFileSync(at("bare.jsonl"), lines(bare));
  await buildIndex([{ id: "1", title: "Oslo", text: "capital of Norway" }], at("idx"));
});

const QUESTIONS = ["--dataset", at("questions.jsonl")];

interface Document {
  n: number;
  metrics: Record<string, number>;
  groups: { hops: Record<string, unknown>; type: Record<string, unknown> };
  fingerprint: string;
  protocol: { retriever: string; dataset: string; questions: number };
  ends: Record<string, number>;
}

async function json(...args: string[]): Promise<Document> {
  const { stdout, stderr, status } = await evaluate(...args, "--json");
  expect({ status, stderr }).toMatchObject({ status: 0 });
  // All else is the same for the same seed.
  const { timings, ...document } = JSON.parse(stdout) as Document & { timings: unknown };
  expect(timings).toMatchObject({ seconds: expect.any(Number) as number });
  return document;
}

describe("agentrl eval", () => {
  it("prints one JSON document with metrics, groups and fingerprint", async () => {
    const result = await json(...QUESTIONS, "--strategy", "rag");
    expect(result).toMatchObject({
      n: 2,
      metrics: { em: 0, f1: 0, cover_em: 0, searches: 0, turns: 1 },
      intervalMethods: { em: "wilson", f1: "wilson" },
      groups: { hops: { "1-hop": { n: 2 } } },
      strategy: "rag",
      recipe: { name: "tiny", tier: "smoke" },
    });
    expect(Object.keys(result.groups.type)).toEqual(["bridge", "comparison"]);
    expect(result.fingerprint).toMatch(/^[0-9a-f]{12}$/);
  });

  it("refuses two formats", async () => {
    const { status, stderr } = await evaluate("--json", "--format", "csv");
    expect([status, stderr]).toEqual([
      2,
      expect.stringContaining("--json is --format json, and --format csv was given too"),
    ]);
  });

  it("takes a strategy's options, which its fingerprint holds", async () => {
    const voted = ["--strategy", "self-consistency", "--set"];
    const inner = "evaluation.strategy.strategy=direct";
    const three = await json(...QUESTIONS, ...voted, inner, "--set", "evaluation.strategy.draws=3");
    expect(three).toMatchObject({ strategy: "self-consistency" });
    expect(three.protocol).toMatchObject({
      strategy: { name: "self-consistency", draws: 3, strategy: { name: "direct" } },
    });
    expect((await json(...QUESTIONS, ...voted, inner)).fingerprint).not.toBe(three.fingerprint);
    const plain = await json(...QUESTIONS, "--strategy", "direct");
    expect(plain.protocol).toMatchObject({ strategy: "direct" });
  });

  it("is the same for the same seed; the fingerprint changes with the protocol, not the seed", async () => {
    const args = [...QUESTIONS, "--temperature", "1", "--seed", "3"];
    const first = await json(...args);
    expect(await json(...args)).toEqual(first);
    const { fingerprint } = await json(...QUESTIONS, "--temperature", "1", "--seed", "4");
    expect(fingerprint).toBe(first.fingerprint);
    expect((await json(...args, "--limit", "1")).fingerprint).not.toBe(first.fingerprint);
    expect((await json(...QUESTIONS, "--seed", "3")).fingerprint).not.toBe(first.fingerprint);
  });

  it("asks through the model's chat template, which the fingerprint then holds", async () => {
    const prompt = ["--set", 'environment.prompt="{question}"'];
    const missing = await evaluate(...QUESTIONS, "--chat", ...prompt);
    expect(missing).toMatchObject({ status: 3 });
    expect(missing.stderr).toContain("[CHAT_TEMPLATE_MISSING]");
    const template =
      "{%- for m in messages -%}{{ '[' ~ m.role ~ ']' ~ m.content ~ '\\n' }}{%- endfor -%}{%- if add_generation_prompt -%}{{ '[assistant]' }}{%- endif -%}";
    await writeTinyModel(at("chatty"));
    writeFileSync(at("chatty/chat_template.jinja"), template);
    const flags = [...QUESTIONS, "--policy", at("chatty"), ...prompt, "--out", at("chat")];
    const plain = await json(...QUESTIONS, "--policy", at("chatty"), ...prompt);
    const asked = await json(...flags, "--chat");
    expect(asked.protocol).toMatchObject({ rendering: { replies: "user" } });
    expect(asked.fingerprint).not.toBe(plain.fingerprint);
    const tokenizer = await loadTokenizer(at("chatty"));
    const [line = ""] = readFileSync(at("chat/trajectories.jsonl"), "utf8").split("\n");
    const [call] = (JSON.parse(line) as Trajectory).calls;
    expect(tokenizer.decode(call!.prompt[0]!.ids)).toBe("[user]Capital of Norway?\n[assistant]");
  });

  it("goes on with rows of the same weights, whatever folder they lie in", async () => {
    const flags = [...QUESTIONS, "--strategy", "direct", "--out", at("moved-run")];
    await json(...flags, "--limit", "1");
    cpSync(at("policy"), at("moved"), { recursive: true });
    const { status, stderr } = await evaluate(...flags, "--policy", at("moved"), "--resume");
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(stderr).toContain("1 rows are taken over");
  });

  it("prints rows, tables and pages as well, and leaves nothing behind that was not asked for", async () => {
    const printed = async (format: string): Promise<string> => {
      const { stdout, status } = await evaluate(
        ...QUESTIONS,
        "--strategy",
        "direct",
        "--format",
        format,
      );
      expect(status).toBe(0);
      return stdout;
    };
    const [head, ...lines] = (await printed("csv")).trimEnd().split(/\r?\n/);
    expect(head).toMatch(/^key,id,sample,/);
    expect(lines).toHaveLength(2);
    const rows = (await printed("jsonl")).trimEnd().split("\n");
    expect(rows.map((row) => (JSON.parse(row) as { id: string }).id)).toEqual(["q0", "q1"]);
    expect(await printed("html")).toMatch(/^<!doctype html>/i);
    expect(readdirSync(tmpdir()).filter((name) => name.startsWith("agentrl-eval-"))).toEqual([]);
  });

  it("takes the recipe's held-out questions by default and by name", async () => {
    const byDefault = await json("--limit", "2");
    expect(byDefault).toMatchObject({ n: 2, dataset: "tinyworld" });
    expect(await json("--limit", "2", "--dataset", "tinyworld")).toEqual(byDefault);
  });

  it("searches an index where one is named, and none where the strategy never searches", async () => {
    const own = await json(...QUESTIONS);
    const indexed = await json(...QUESTIONS, "--index", at("idx"));
    expect(indexed.protocol.retriever).not.toBe(own.protocol.retriever);
    const direct = await json("--dataset", at("bare.jsonl"), "--strategy", "direct");
    expect(direct.protocol.retriever).toBe("none");
    const { status, stderr } = await evaluate("--dataset", at("bare.jsonl"), "--strategy", "rag");
    expect(status).toBe(3);
    expect(stderr).toContain("bare.jsonl:1: is a question without passages");
  });

  it("draws several times per question", async () => {
    const result = await json(...QUESTIONS, "--samples", "3", "--temperature", "1");
    expect(result).toMatchObject({ n: 2, samplesPerTask: 3 });
    const drawn = Object.keys(result.metrics).filter((name) => name.includes("@"));
    expect(drawn).toEqual(["avg@3", "pass@1", "pass@2", "pass@3", "majority@3", "potential@3"]);
    const { stderr } = await evaluate(...QUESTIONS, "--samples", "3");
    expect(stderr).toContain("All 3 draws of a question are alike at temperature 0");
  });

  it("prints a table for people, and a missed requirement ends with 5 behind it", async () => {
    const { stdout, stderr, status } = await evaluate(...QUESTIONS, "--require", "em>=0.5");
    expect(status).toBe(5);
    expect(stderr).toContain("error: em is 0, required >= 0.5. [SCORE_MISSED]");
    expect(stdout.replace(/[0-9a-f]{12}\n$/, "HASH\n")).toMatchInlineSnapshot(`
      "policy on questions.jsonl, strategy agent: 2 questions, seed 0

      questions   n     EM     F1  cover-EM  answered  searches  parsed  turns  tokens
      all         2  0.000  0.000     0.000     0.000      0.00   0.000   3.00    22.5
      By hops
      1-hop       2  0.000  0.000     0.000     0.000      0.00   0.000   3.00    22.5
      By type
      bridge      1  0.000  0.000     0.000     0.000      0.00   0.000   3.00    21.0
      comparison  1  0.000  0.000     0.000     0.000      0.00   0.000   3.00    24.0

      gold passages shown: 0.000; all of them for 0.000 of questions
      cut, of the questions: messages in 100 %, observations in 0 %, contexts in 0 %
      95 % intervals over questions: EM 0.000 … 0.658 (wilson), F1 0.000 … 0.658 (wilson)
      searches, turns, tokens: per question; answered, parsed: share of questions
      recipe tiny, tier smoke; protocol HASH
      "
    `);
  });

  it("searches with the evaluation's own retriever, and says when that looks at gold", async () => {
    const set = ["--set", "evaluation.retriever={ name: oracle }"];
    const { stdout } = await evaluate(...QUESTIONS, "--strategy", "rag", ...set);
    expect(stdout).toMatch(/ a control, not a result\.\n$/);
    const found = await json(...QUESTIONS, "--strategy", "rag", ...set);
    expect(found).toMatchObject({ readsGold: true });
    expect(found.protocol.retriever).toMatch(/^oracle-/);
    const clean = await json(
      ...QUESTIONS,
      "--strategy",
      "rag",
      "--set",
      "retriever=oracle",
      "--set",
      "evaluation.retriever=bm25",
    );
    expect(clean).toMatchObject({ readsGold: false });
  });

  it("writes rows, trajectories and results, and goes on with --resume", async () => {
    const out = ["--out", at("out")];
    const { stderr } = await evaluate(...QUESTIONS, ...out);
    expect(stderr).toContain("written to out/results.json\n");
    const read = (file: string): string => readFileSync(join(folder, "out", file), "utf8");
    const files = ["rows.jsonl", "trajectories.jsonl", "results.json"];
    const straight = files.map(read);
    expect(straight[0]!.trimEnd().split("\n")).toHaveLength(2);
    // Rows are refused before the policy is looked for, because making or fetching one takes minutes.
    for (const policy of [[], ["--policy", "./missing"]]) {
      const again = await evaluate(...QUESTIONS, ...out, ...policy);
      expect(again.status).toBe(2);
      expect(again.stderr).toContain("[EVALUATION_EXISTS]");
    }
    const [first = ""] = straight[0]!.split("\n");
    writeFileSync(join(folder, "out", "rows.jsonl"), `${first}\n${first.slice(0, 40)}`);
    const resumed = await evaluate(...QUESTIONS, ...out, "--resume");
    expect(resumed.stderr).toContain("1 rows are taken over from out.");
    expect(files.map(read)).toEqual(straight);
  });

  it("counts prompts beyond the model's context as wrong instead of failing", async () => {
    const long = `environment.prompt=${"word ".repeat(80)}{question}`;
    const { ends, metrics } = await json(...QUESTIONS, "--set", long);
    expect(ends).toEqual({ "context-limit": 2 });
    expect(metrics).toMatchObject({ em: 0, answer_rate: 0 });
  });

  it("names what is wrong on the command line", async () => {
    const failure = async (...args: string[]): Promise<string> => {
      const { stderr, status } = await evaluate(...args);
      return `${status}: ${stderr}`;
    };
    expect(await failure("--dataset", "tinywrld")).toMatch(
      /^2: error: --dataset is "tinywrld"; there is no such file and no such dataset\. Did you mean "tinyworld"\?/,
    );
    expect(await failure("--policy", at("nope"))).toMatch(/^2: error: .*nope: .*\[MODEL_NAME\]/);
    expect(await failure("--require", "ex>=1")).toMatch(
      /^2: error: --require names "ex", which is not/,
    );
    expect(await failure("retreival")).toMatch(/^2: error: too many arguments/);
  });

  it("leaves the options behind `retrieval` to it", async () => {
    const args = ["eval", "retrieval", "--index", at("idx"), "--queries", at("q"), "--qrels", "x"];
    const { stderr, status } = await runCommand(evalCommand, args, `${folder}/`);
    expect(status).toBe(3);
    expect(stderr).toContain("error: q: cannot be read");
  });
});

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SynthResult } from "../../src/run/synth/run-synth.ts";
import type { Sample } from "../../src/trajectory/sample.ts";
import { chatServer } from "../helpers/chat-server.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import "../helpers/all-parts.ts";

const synthDataCommand = commandNamed("synth-data");

const folder = temporaryFolder();
const at = (...names: string[]): string => join(folder, ...names);
const run = (...flags: string[]) =>
  runCommand(synthDataCommand, ["synth-data", ...flags], `${folder}/`);
/** Questions of the smallest tier, two draws each: one that searches, and one that never does. */
const small = (name: string, ...more: string[]): string[] => [
  ...["--recipe", "search-r1", "--tier", "smoke", "--out", at(name)],
  ...(more.includes("--limit") ? [] : ["--limit", "12"]),
  ...["--set", "synth.steps=[]"],
  ...["--set", "synth.draws=[{name: plain}, {name: blind, strategy: direct}]", ...more],
];
const lines = (...names: string[]): string[] =>
  readFileSync(at(...names), "utf8")
    .split("\n")
    .filter((line) => line !== "");
const samplesOf = (...names: string[]): Sample[] =>
  lines(...names).map((line) => JSON.parse(line) as Sample);
const resultOf = (name: string): SynthResult =>
  JSON.parse(readFileSync(at(name, "synth.json"), "utf8")) as SynthResult;

describe("agentrl synth-data", () => {
  it("keeps only right and well-formed answers where no steps are named", async () => {
    const answers: Record<string, string> = {
      right: "<think> so</think><answer> Oslo</answer>",
      wrong: "<answer> Bergen</answer>",
      broken: "</think><answer> Oslo</answer>",
    };
    const server = await chatServer(({ messages }) => {
      const told = messages.map(({ content }) => content).join("");
      return Object.entries(answers).find(([name]) => told.includes(`Which ${name}`))?.[1] ?? "";
    });
    const rows = Object.keys(answers).map((id) => {
      return JSON.stringify({ id, question: `Which ${id} capital?`, answer: "Oslo" });
    });
    writeFileSync(at("own.jsonl"), `${rows.join("\n")}\n`);
    const flags = ["--dataset", at("own.jsonl"), "--teacher", `${server.url}/v1`, "--model", "m"];
    // Questions without passages: answered directly.
    flags.push("--set", "synth.draws=[{name: plain, strategy: direct}]");
    const { stdout, status, stderr } = await run(...flags, "--out", at("own"));
    expect(status, stderr).toBe(0);
    expect(stdout).toMatch(/^correct gate +3 +2 +67 % +2 +1 wrong answer$/m);
    expect(stdout).toMatch(/^format gate +2 +1 +50 % +1 +1 unpaired tag$/m);
    expect(samplesOf("own", "samples.jsonl").map(({ task }) => task.id)).toEqual(["right"]);
    const all = [...flags, "--out", at("all"), "--set", "synth.steps=[]"];
    expect((await run(...all)).status).toBe(0);
    expect(samplesOf("all", "samples.jsonl")).toHaveLength(3);
    await server.close();
  });

  it("fails where no sample is kept, and says what the steps dropped", async () => {
    const none = small("empty", "--set", "synth.steps=[{ name: correct, atLeast: 2 }]");
    const { status, stderr } = await run(...none);
    expect(status).toBe(3);
    expect(stderr).toMatch(
      /12 questions: correct dropped 24 \(wrong answer\).*\[SYNTHESIS_EMPTY\]/,
    );
    expect(lines("empty", "draws.jsonl")).toHaveLength(12);
    const select = await run("select", at("empty"), "--set", "synth.steps=[correct]");
    expect(select).toMatchObject({ status: 0 });
    expect((await run("select", at("empty"), ...none.slice(-2))).status).toBe(3);
  });

  it("asks the models of the recipe for rewards, and keeps what they let through", async () => {
    const models = ["--set", "models={ reader: { from: literate } }"];
    const likely = "{ name: answer-likelihood, role: reader, weight: 0 }";
    const rewards = ["--set", `rewards=[exact-match, ${likely}]`, "--set", "synth.steps=[correct]"];
    const { status, stderr } = await run(...small("role", "--limit", "4", ...models, ...rewards));
    expect(status, stderr).toBe(0);
    for (const { trajectory } of samplesOf("role", "samples.jsonl")) {
      const told = trajectory.rewards.find(({ name }) => name === "answer-likelihood");
      expect(told?.value).toBeLessThan(0);
    }
    expect(samplesOf("role", "samples.jsonl")).toHaveLength(4);
  });

  it("draws a dataset's questions and shows what each draw gave and each step let through", async () => {
    const { stdout, status } = await run(...small("first", "--set", "synth.steps=[correct]"));
    expect(status).toBe(0);
    expect(stdout).toContain("teacher gold-chain · 12 questions of tinyworld");
    expect(stdout).toMatch(/^plain +12 +0 +100 % +100 % +1\.92 +1\.000$/m);
    expect(stdout).toMatch(/^blind +12 +0 +0 % +100 % +0\.00 +0\.000$/m);
    expect(stdout).toMatch(/^correct gate +24 +12 +50 % +12 +12 wrong answer$/m);
    expect(stdout).toMatch(/^ +12 +first\/samples\.jsonl$/m);
    const samples = samplesOf("first", "samples.jsonl");
    expect(samples.map(({ provenance }) => provenance.draw.name)).toEqual(
      Array<string>(12).fill("plain"),
    );
    expect(samples[0]).toMatchObject({
      id: "tinyworld-train-7-0/plain-0",
      weight: 1,
      scores: {},
      task: { id: "tinyworld-train-7-0" },
      trajectory: { id: "tinyworld-train-7-0/plain-0", purpose: "train", reward: 1 },
      provenance: {
        teacher: { name: "gold-chain" },
        draw: { name: "plain", number: 0 },
        strategy: "agent",
        steps: [{ name: "correct" }],
      },
    });
    expect(samples[0]?.task.annotations).not.toHaveProperty("context");
  });

  it("writes what a table was made of, with hashes of what was drawn from", async () => {
    const { stdout } = await run(
      ...small("json", "--json", "--dropped", "--set", "synth.steps=[correct]"),
    );
    const { out, drawn, ...result } = JSON.parse(stdout) as SynthResult & Record<string, unknown>;
    expect(resultOf("json")).toEqual(result);
    expect({ out, drawn }).toMatchObject({ out: "json", drawn: { rollouts: 24 } });
    const [first] = samplesOf("json", "samples.jsonl");
    expect(result.hashes).toEqual({
      settings: first?.provenance.settings,
      template: first?.provenance.template,
      retriever: first?.provenance.retriever,
      dataset: first?.provenance.dataset,
    });
    expect(lines("json", "dropped.jsonl")).toHaveLength(12);
    expect(JSON.parse(lines("json", "dropped.jsonl")[0] ?? "")).toMatchObject({
      id: "tinyworld-train-7-0/blind-0",
      dropped: { by: "correct", reason: "wrong answer" },
    });
  });

  it("keeps all samples of a question on one side of a split", async () => {
    await run(...small("split", "--set", "synth.validation=0.4"));
    const sides = ["samples.jsonl", "validation.jsonl"].map(
      (file) => new Set(samplesOf("split", file).map(({ task }) => task.id)),
    );
    const [training, validation] = sides;
    expect(training?.size).toBeGreaterThan(0);
    expect(validation?.size).toBeGreaterThan(0);
    expect((training?.size ?? 0) + (validation?.size ?? 0)).toBe(12);
    expect([...(training ?? [])].filter((id) => validation?.has(id))).toEqual([]);
  });

  it("does not touch draws that are there, and does not mix them with those of other settings", async () => {
    const before = readFileSync(at("first", "draws.jsonl"), "utf8");
    const yaml = readFileSync(at("first", "recipe.resolved.yaml"), "utf8");
    const again = await run(...small("first"));
    expect(again).toMatchObject({ status: 2 });
    expect(again.stderr).toContain(
      "first/draws.jsonl: exists already. Continue it with --resume, or choose another --out. [SYNTHESIS_EXISTS]",
    );
    const other = await run(...small("first", "--resume", "--seed", "9"));
    expect(other).toMatchObject({ status: 2 });
    expect(other.stderr).toMatch(
      /first\/draws\.jsonl:1: was drawn with another teacher, .* must not be mixed .*\[SYNTHESIS_EXISTS\]/,
    );
    const fewer = await run(...small("first", "--resume", "--limit", "5"));
    expect(fewer).toMatchObject({ status: 2 });
    expect(fewer.stderr).toContain("has draws of 7 questions");
    expect(readFileSync(at("first", "draws.jsonl"), "utf8")).toBe(before);
    // Refused before anything is written.
    expect(await run(...small("first", "--seed", "9"))).toMatchObject({ status: 2 });
    expect(readFileSync(at("first", "recipe.resolved.yaml"), "utf8")).toContain(
      yaml.split("\n").find((line) => line.includes("seed:")),
    );
  });

  it("draws more questions into a folder that has some", async () => {
    await run(...small("grown", "--limit", "5"));
    const { stdout, status } = await run(...small("grown", "--resume", "--json"));
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ questions: 12, drawn: { rollouts: 14 } });
    await run(...small("at-once"));
    expect(lines("grown", "draws.jsonl")).toEqual(lines("at-once", "draws.jsonl"));
  });

  it("takes flags of a teacher for no other, and wants a server's model", async () => {
    const stray = await run(...small("none", "--model", "m"));
    expect(stray).toMatchObject({ status: 2 });
    expect(stray.stderr).toContain(
      "--model would have no effect: it belongs to a server (http://…/v1), and --teacher is not given",
    );
    const chat = await run(...small("none", "--teacher", "gold-chain", "--chat"));
    expect(chat.stderr).toContain("--chat would have no effect: it belongs to a model in a folder");
    const server = await run(...small("none", "--teacher", "http://127.0.0.1:1/v1"));
    expect(server.stderr).toContain("--model must say which of its models is meant");
    expect(existsSync(at("none"))).toBe(false);
  });

  it("names a step that there is not", async () => {
    const step = await run(...small("none", "--set", "synth.steps=[corect]"));
    expect(step).toMatchObject({ status: 2 });
    expect(step.stderr).toContain(
      'synth.steps.0 is "corect"; no such synthesis step. Did you mean',
    );
  });
});

describe("agentrl synth-data select", () => {
  it("applies other steps to the draws that are there, as a new run with them would have", async () => {
    await run(...small("two"));
    expect(resultOf("two").files["samples.jsonl"]).toMatchObject({ rows: 24 });
    const { status } = await run(
      "select",
      at("two"),
      "--set",
      "synth.steps=[correct]",
      "--dropped",
    );
    expect(status).toBe(0);
    for (const file of ["samples.jsonl", "synth.json"])
      expect(readFileSync(at("two", file), "utf8")).toBe(readFileSync(at("json", file), "utf8"));
    // The folder's settings have changed with it.
    expect(await run("select", at("two"), "--json")).toMatchObject({ status: 0 });
    expect(existsSync(at("two", "dropped.jsonl"))).toBe(false);
    expect(lines("two", "samples.jsonl")).toEqual(lines("json", "samples.jsonl"));
  });

  it("refuses to change what the draws were made with, and a folder without a run", async () => {
    const changed = await run("select", at("two"), "--set", "synth.draws.0.samples=2");
    expect(changed).toMatchObject({ status: 2 });
    expect(changed.stderr).toContain("--set synth.draws.0.samples: the draws of two are made");
    expect(await run("select", at("nothing"))).toMatchObject({ status: 3 });
  });
});

describe("agentrl synth-data again", () => {
  it("draws rows again to the byte, named or all", async () => {
    const all = await run("again", at("json", "samples.jsonl"), "--all");
    expect(all).toMatchObject({
      status: 0,
      stdout: "12 of 12 rows came out the same to the byte\n",
    });
    const id = ["--id", "tinyworld-train-7-3/plain-0"];
    const one = await run("again", at("json", "samples.jsonl"), ...id, "--json");
    expect(JSON.parse(one.stdout)).toMatchObject({ rows: 1, same: 1, unlike: [] });
  });

  it("says where a row differs, and ends with 4", async () => {
    await run(...small("changed", "--limit", "3"));
    const path = at("changed", "samples.jsonl");
    const text = readFileSync(path, "utf8");
    writeFileSync(path, text.replace('"reward":1', '"reward":0.5'));
    const { stdout, stderr, status } = await run("again", path, "--all", "4");
    expect(status).toBe(4);
    expect(stdout).toBe(
      "tinyworld-train-7-0/plain-0: trajectory.reward was 0.5, is 1\n3 of 4 rows came out the same to the byte\n",
    );
    expect(stderr).toContain("1 of 4 rows differ from the file. [SYNTHESIS_UNLIKE]");
  });

  it("wants to know which rows, and names an id that is not there", async () => {
    expect(await run("again", at("json", "samples.jsonl"))).toMatchObject({ status: 2 });
    const absent = await run("again", at("json", "samples.jsonl"), "--id", "q/plain-0");
    expect(absent).toMatchObject({ status: 2 });
    expect(absent.stderr).toContain('--id is "q/plain-0"; json/samples.jsonl has no such row');
  });

  it("says what has changed where rows cannot come out the same", async () => {
    const question = (answer: string): string =>
      JSON.stringify({
        _id: "q",
        question: "Which town is in the north?",
        answer,
        type: "bridge",
        supporting_facts: [["Town", 0]],
        context: [["Town", [`${answer} is in the north.`]]],
      });
    writeFileSync(at("one.jsonl"), question("Vardo"));
    await run("--dataset", at("one.jsonl"), "--out", at("one"), "--quiet");
    expect(resultOf("one")).toMatchObject({ tier: "paper", questions: 1 });
    writeFileSync(at("one.jsonl"), question("Hamar"));
    const { stderr, status } = await run("again", at("one", "samples.jsonl"), "--all");
    expect(status).toBe(4);
    expect(stderr).toMatch(
      /what it was drawn from is not what it was \(.*dataset was files-\w+, is files-\w+.*\[SYNTHESIS_UNLIKE\]/s,
    );
  });
});

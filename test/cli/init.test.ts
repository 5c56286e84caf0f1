import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { openDataset } from "../../src/worlds/open-dataset.ts";
import { resolveRecipe } from "../../src/run/settings/resolve-recipe.ts";
import { wordTokenizer } from "../../src/text/word-tokenizer.ts";
import { chatServer, lastMessage } from "../helpers/chat-server.ts";
import type { LocalServer } from "../helpers/local-server.ts";
import { ANY, END, writeScriptedModel } from "../helpers/scripted-model.ts";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import "../helpers/all-parts.ts";

const towns = [
  "Ravos",
  "Telm",
  "Quiran",
  "Bostra",
  "Ilvern",
  "Sagat",
  "Murl",
  "Dovren",
  "Pask",
  "Ung",
];
const start = process.cwd();
const files = temporaryFolder();
const rows = towns.map((town, i) => ({ frage: `Who founded ${town}?`, gold: `Founder ${i}` }));
const passages = towns.map((town, i) => ({
  id: town,
  title: town,
  text: `Founder ${i} founded ${town}.`,
}));
const lines = (records: readonly object[]): string =>
  records.map((each) => JSON.stringify(each)).join("\n");

const vocabulary = [" founded", ...towns.map((town) => ` ${town}`)];
/** A paragraph of sixteen words. */
const SENTENCE =
  "The town was founded long ago by people who came over the hills with their sheep.";

/** A folder with a tokenizer of some words. */
function writeTokenizer(folder: string, words: string[], more: object = {}): void {
  const { tokenizer, config } = wordTokenizer({ words, specials: ["<end>", "<pad>"] });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "tokenizer.json"), JSON.stringify(tokenizer));
  const settings = JSON.stringify({ ...(config as object), ...more });
  writeFileSync(join(folder, "tokenizer_config.json"), settings);
}

let server: LocalServer;
beforeAll(async () => {
  server = await chatServer((asked) => {
    const found = /Founder \d/.exec(lastMessage(asked))?.[0];
    const question = /Question: (.*)/.exec(lastMessage(asked))?.[1] ?? "";
    return found === undefined
      ? `<think>I look it up.</think><search>${question}</search>`
      : `<answer>${found}</answer>`;
  });
});
beforeEach(() => {
  process.chdir(files);
  writeFileSync("fragen.jsonl", lines(rows));
  writeFileSync("corpus.jsonl", lines(passages));
});
afterAll(async () => {
  process.chdir(start);
  await server.close();
});

const run = (...args: string[]) => runCli(args);
const init = (...args: string[]) =>
  run(
    ...["init", ...args, "--questions", "fragen.jsonl", "--passages", "corpus.jsonl"],
    ...["--json"],
  );
const served = (): string[] => ["--policy", `${server.url}/v1`, "--model", "small"];

/** The printed command lines, as a shell splits them, without the program's name. */
function wordsOf(stdout: string): string[][] {
  const { commands } = JSON.parse(stdout) as { commands: string[] };
  return commands.map((line) =>
    [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, word]) => quoted ?? word ?? "").slice(1),
  );
}

describe("agentrl init", () => {
  it("prints commands for a server that all work as printed", async () => {
    const { stdout, stderr, status } = await init(...served());
    expect(status).toBe(0);
    expect(stderr).toContain("question ← frage, answer ← gold");
    expect(JSON.parse(stdout)).toMatchObject({
      questions: { count: 10, withoutAnswer: 0, heldOut: 0 },
      passages: 10,
    });
    const commands = wordsOf(stdout);
    expect(
      commands.map(([name, second]) => (name === "eval" ? `eval ${second ?? ""}` : name)),
    ).toEqual([...["ask", "eval --recipe", "eval --recipe", "eval compare", "report"]]);
    for (const words of commands) {
      const done = await run(...words);
      expect([words, done.status]).toEqual([words, 0]);
    }
    const results = JSON.parse(readFileSync("runs/agent/results.json", "utf8")) as {
      n: number;
      metrics: { em: number };
    };
    expect([results.n, results.metrics.em]).toEqual([10, 1]);
    expect(existsSync("report.html")).toBe(true);
  });

  it("lets --policy replace the server of the recipe", async () => {
    await init(...served(), "--overwrite");
    const limited = ["--recipe", "agentrl.yaml", "--limit", "2", "--json"];
    const { stdout, status } = await run("eval", ...limited, "--policy", "base");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ policy: { from: "base" }, n: 2 });
  });

  it("lets --model name other models of the recipe's server", async () => {
    await init(...served(), "--overwrite");
    const asked = ["--recipe", "agentrl.yaml", "--limit", "2", "--json"];
    const { stdout } = await run("eval", ...asked, "--model", "large");
    expect(JSON.parse(stdout)).toMatchObject({
      policy: { model: "large" },
      dataset: "fragen.jsonl",
    });
    const both = await run("eval", ...asked, "--model", "small,large");
    const { matrix } = JSON.parse(both.stdout) as {
      matrix: { policy: string; datasets: object }[];
    };
    expect(matrix.map(({ policy }) => policy.split(" ")[0])).toEqual(["small", "large"]);
    expect(matrix.map(({ datasets: of }) => Object.keys(of))).toEqual([
      ["fragen.jsonl"],
      ["fragen.jsonl"],
    ]);
  });

  it("replaces nothing without --overwrite", async () => {
    writeFileSync("agentrl.yaml", "mine");
    const { status, stderr } = await init(...served());
    expect([status, stderr]).toEqual([2, expect.stringContaining("[OUTPUT_EXISTS]")]);
    expect(readFileSync("agentrl.yaml", "utf8")).toBe("mine");
    expect((await init(...served(), "--overwrite")).status).toBe(0);
    expect(readFileSync("agentrl.yaml", "utf8")).not.toBe("mine");
  });

  it("compares two models of the server", async () => {
    const { stdout } = await run(
      ...["init", ...served(), "--questions", "fragen.jsonl", "--passages", "corpus.jsonl"],
      "--overwrite",
    );
    expect(stdout).toContain("--model NAME");
    const measured = ["eval", "--recipe", "agentrl.yaml", "--limit", "2", "--out"];
    expect((await run(...measured, "first")).status).toBe(0);
    expect((await run(...measured, "second", "--model", "large")).status).toBe(0);
    expect((await run("eval", "compare", "first", "second")).status).toBe(0);
  });

  it("says how many texts were split into passages, and at what length", async () => {
    mkdirSync("docs", { recursive: true });
    writeFileSync("docs/long.txt", Array.from({ length: 12 }, () => SENTENCE).join("\n\n"));
    const asked = ["--questions", "fragen.jsonl", "--passages", "docs", ...served()];
    const { stdout } = await run("init", "split", ...asked);
    expect(stdout).toMatch(/2 passages: 1 text file, split at about 100 words/);
  });

  it("makes questions where there are only texts, and prints commands that work with them", async () => {
    mkdirSync("texte", { recursive: true });
    const towns = ["Husum", "Kappeln", "Tönning", "Mölln", "Eutin", "Plön"];
    towns.forEach((town, i) => {
      const text = `Die kleine Stadt wurde im Jahr ${1200 + i} von Graf Adolf aus ${town} erobert.`;
      writeFileSync(join("texte", `${i}.txt`), text);
    });
    const { stdout, status } = await run(
      "init",
      "made",
      "--passages",
      "texte",
      ...served(),
      "--json",
    );
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ questions: { count: 6 }, passages: 6 });
    const made = readFileSync(join("made", "questions.jsonl"), "utf8").trim().split("\n");
    for (const line of made) {
      const { question, references } = JSON.parse(line) as Record<string, string>;
      expect(question).toContain("____");
      expect([...towns, ...towns.map((_, i) => `${1200 + i}`)]).toContain(references?.[0]);
    }
    const evaluation = wordsOf(stdout).find(([command]) => command === "eval") ?? [];
    expect((await run(...evaluation)).status).toBe(0);
  });

  it("refuses a model whose vocabulary lacks the words of the questions", async () => {
    writeTokenizer("tiny-world-model", ["a", " the"]);
    const { status, stderr } = await init("unread", "--policy", "tiny-world-model");
    expect([status, stderr]).toEqual([2, expect.stringContaining("[VOCABULARY_UNFIT]")]);
    expect(existsSync("unread")).toBe(false);
  });

  it("asks a folder's model through its chat template unless it is told not to", async () => {
    writeTokenizer("chat-model", vocabulary, { chat_template: "{{ messages[0].content }}" });
    const chatOf = async (folder: string, ...args: string[]) => {
      await init(folder, "--policy", "chat-model", ...args);
      return (await resolveRecipe(join(folder, "agentrl.yaml"))).settings.policy.chat;
    };
    expect(await chatOf("in-chat")).toBeDefined();
    expect(await chatOf("in-text", "--no-chat")).toBeUndefined();
    await init("named", "--policy", "smollm2-135m");
    expect((await resolveRecipe("named/agentrl.yaml")).settings.policy.chat).toBeDefined();
  });

  it("prints a short training of a model that goes through", async () => {
    const actions = ["<search>", "<answer>"].map((tag) => [ANY, tag, " founded", END]);
    const closings = [
      [" founded", "</search>"],
      [" founded", "</answer>", END],
    ];
    await writeScriptedModel("scripted", { paths: [...actions, ...closings], words: vocabulary });
    const { stdout } = await init("short", "--policy", "scripted");
    const smoke = wordsOf(stdout).find((words) => words.includes("smoke"));
    expect(smoke?.[0]).toBe("train");
    const { status, stderr } = await run(...(smoke ?? []));
    expect(status, stderr).toBe(0);
    expect(stderr).toMatch(/before training: EM 0\.000 on 2 held-out questions/);
  });

  it("names a model's folder from the recipe's folder", async () => {
    writeTokenizer("small-model", vocabulary);
    expect((await init("foldered", "--policy", "small-model")).status).toBe(0);
    const { settings } = await resolveRecipe("foldered/agentrl.yaml");
    expect(resolve(settings.policy.from)).toBe(resolve("small-model"));
  });

  it("holds out every fifth question of a model that can be trained", async () => {
    const { stdout } = await init("trained", "--policy", "Qwen/Qwen2.5-0.5B-Instruct", "--chat");
    expect(JSON.parse(stdout)).toMatchObject({ questions: { count: 10, heldOut: 2 } });
    expect(wordsOf(stdout).at(-1)?.[0]).toBe("train");
    const { settings } = await resolveRecipe("trained/agentrl.yaml");
    const idsOf = async (named: typeof settings.dataset): Promise<string[]> => {
      const dataset = await openDataset(named, "dataset");
      return (await dataset.tasks()).map(({ id }) => id);
    };
    const trained = await idsOf(settings.dataset);
    const held = await idsOf(settings.evaluation.dataset);
    expect([trained.length, held.length]).toEqual([8, 2]);
    expect(trained.filter((id) => held.includes(id))).toEqual([]);
  });

  it.each([
    [["--policy", "base"], "--policy is base"],
    [["--policy", "timid"], "--policy is timid"],
    [["--policy", "http://127.0.0.1:1/v1"], "--model"],
    [[], "--policy is not given"],
  ])("refuses %j", async (args, named) => {
    const { status, stderr } = await init("refused", ...args);
    expect(status).toBe(2);
    expect(stderr).toContain(named);
    expect(stderr).toContain("[USAGE]");
    expect(existsSync(join("refused", "agentrl.yaml"))).toBe(false);
  });

  it("refuses neither questions nor passages, and texts of which no question can be made", async () => {
    expect((await run("init", "none", ...served())).stderr).toContain("--passages is not given");
    mkdirSync("short", { recursive: true });
    writeFileSync(join("short", "a.txt"), "Nothing here.");
    const { status, stderr } = await run("init", "none", "--passages", "short", ...served());
    expect(status).toBe(3);
    expect(stderr).toContain("[QUESTIONS_NOT_MADE]");
    expect(existsSync(join("none", "agentrl.yaml"))).toBe(false);
  });
});

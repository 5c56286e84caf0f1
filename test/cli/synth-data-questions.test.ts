import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Task } from "../../src/trajectory/task.ts";
import { chatServer, lastMessage } from "../helpers/chat-server.ts";
import type { LocalServer } from "../helpers/local-server.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);

const TOLD = {
  "Grieg was the first composer of that age, and he was born there in 1843.":
    "When was the composer born?",
  "The fjord is the deepest of them all, and it has 1308 metres of water.":
    "How deep, 1308 metres?",
  "The railway over the high plain was opened after many years in 1909.": "When was it opened?",
};

/** Words each text as above; answers its own questions rightly, the railway's excepted. */
let server: LocalServer;
beforeAll(async () => {
  await mkdir(at("docs"));
  for (const [i, text] of Object.keys(TOLD).entries())
    await writeFile(at(`docs/${i}.txt`), `${text}\n`);
  const index = ["index", "build", at("docs"), "--out", at("idx")];
  const built = await runCommand(commandNamed("index"), index, folder);
  expect(built.status, built.stderr).toBe(0);
  server = await chatServer((asked) => {
    const message = lastMessage(asked);
    const [text = "", question = ""] =
      Object.entries(TOLD).find(([each]) => message.startsWith(each)) ?? [];
    if (!message.includes("Question: ")) return question;
    return text.includes("railway") ? "1910" : (/\d{4}/.exec(text)?.[0] ?? "");
  });
});
afterAll(() => server.close());

const run = (out: string, ...more: string[]) =>
  runCommand(
    commandNamed("synth-data"),
    ["synth-data", "questions", "--index", at("idx"), "--out", at(out), "--json", ...more],
    folder,
  );
const tasksOf = (name: string): Task[] =>
  readFileSync(at(name), "utf8")
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Task);

describe("agentrl synth-data questions --teacher", () => {
  it("takes a model's question that keeps the answer, and leaves the others as they were", async () => {
    const plain = await run("plain.jsonl");
    expect(JSON.parse(plain.stdout)).toMatchObject({ questions: 3, worded: 0 });
    const teacher = ["--teacher", `${server.url}/v1`, "--model", "wordy", "--api-key-env", "none"];
    const { status, stdout, stderr } = await run("worded.jsonl", ...teacher);
    expect(status, stderr).toBe(0);
    const before = tasksOf("plain.jsonl");
    const after = tasksOf("worded.jsonl");
    expect(after.map(({ id, references }) => [id, references])).toEqual(
      before.map(({ id, references }) => [id, references]),
    );
    for (const [i, { question, references }] of after.entries()) {
      // Only the composer's question holds no answer and is answered as it should be.
      const isWorded = references[0] === "1843";
      expect(question).toBe(isWorded ? "When was the composer born?" : before[i]?.question);
    }
    const worded = after.filter(({ references }) => references[0] === "1843").length;
    expect(JSON.parse(stdout)).toMatchObject({ questions: 3, worded });
    expect(worded).toBe(1);
  });

  it("asks for the server of a model, and for the model of a server", async () => {
    const alone = await run("none.jsonl", "--model", "wordy");
    expect(alone.status).toBe(2);
    expect(alone.stderr).toContain("Add --teacher");
    const { status, stderr } = await run("none.jsonl", "--teacher", `${server.url}/v1`);
    expect(status).not.toBe(0);
    expect(stderr).toContain("--model must say which of its models is meant");
  });
});

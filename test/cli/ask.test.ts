import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { askCommand } from "../../src/cli/commands/ask.ts";
import { chatServer, lastMessage } from "../helpers/chat-server.ts";
import type { LocalServer } from "../helpers/local-server.ts";
import { runCli } from "../helpers/run-cli.ts";
import { runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const out = temporaryFolder();
const questions = join(out, "questions.jsonl");
const context = [
  { title: "Bank of Ravos", text: "The Bank of Ravos was founded by Ilmar Tesk." },
  { title: "Ravos", text: "Ravos is a port." },
];
writeFileSync(
  questions,
  JSON.stringify({
    id: "q1",
    question: "Who founded the Bank of Ravos?",
    references: ["Ilmar Tesk"],
    annotations: { context: context.map((each, i) => ({ id: `p${i}`, ...each })) },
  }),
);

let server: LocalServer;
let failing: LocalServer;
beforeAll(async () => {
  server = await chatServer((asked) =>
    lastMessage(asked).includes("Doc 1")
      ? "<think>It is there.</think><answer>Ilmar Tesk</answer>"
      : "<think>I look it up.</think><search>Bank of Ravos founder</search>",
  );
  failing = await chatServer((_, response) => {
    response.writeHead(401).end();
    return null;
  });
});
afterAll(async () => {
  await server.close();
  await failing.close();
});

const ask = (url: string, ...args: string[]) =>
  runCommand(askCommand, [
    ...["ask", "--policy", `${url}/v1`, "--model", "small", "--dataset", questions],
    ...args,
  ]);

describe("agentrl ask", () => {
  it("shows thoughts, searches and titles as they happen, and the answer alone on stdout", async () => {
    const { stdout, stderr, status } = await ask(server.url, "Who founded the Bank of Ravos?");
    expect(status).toBe(0);
    expect(stdout).toBe("Ilmar Tesk\n");
    const labels = stderr.split("\n").map((line) => line.trim().split(/\s{2,}/));
    expect(labels).toEqual(
      expect.arrayContaining([
        ["thought", "I look it up."],
        ["search", "Bank of Ravos founder"],
        ["thought", "It is there."],
        ["answer", "Ilmar Tesk"],
      ]),
    );
    expect(stderr).toMatch(/found +Bank of Ravos/);
    expect(stderr).toContain("2 messages, 1 search, 8 tokens");
  });

  it("shows formulas whole beside boxes, and nothing of a fenced call in a thought", async () => {
    const boxing = await chatServer((asked) =>
      lastMessage(asked).includes("Doc 1")
        ? "Half is $\\frac{1}{2}$, so \\boxed{Ilmar Tesk}."
        : "I look it up.\n```search\nBank of {Ravos}\n```",
    );
    const protocol = `environment.protocol={ name: tags, boxed: alone, callTags: { search: { opening: "\`\`\`search\\n", closing: "\\n\`\`\`" } } }`;
    const { stdout, stderr } = await ask(boxing.url, "--set", protocol, "Who founded it?");
    await boxing.close();
    expect(stdout).toBe("Ilmar Tesk\n");
    expect(stderr).toMatch(/thought +I look it up\.\n/);
    expect(stderr).toMatch(/thought +Half is \$\\frac\{1\}\{2\}\$, so +\./);
  });

  it("gives one JSON document with the passages that each search showed", async () => {
    const { stdout } = await ask(server.url, "--json", "Who founded the Bank of Ravos?");
    const [document = "", ...more] = stdout.trim().split("\n");
    expect(more).toEqual([]);
    expect(JSON.parse(document)).toMatchObject({
      answer: "Ilmar Tesk",
      end: "answered",
      searches: 1,
      completionTokens: 8,
      turns: [
        { observations: [{ passages: [{ id: "p0", title: "Bank of Ravos" }, { id: "p1" }] }] },
        { actions: [{ tool: "answer", input: "Ilmar Tesk" }] },
      ],
    });
  });

  it("fails with the server's failure instead of an empty answer", async () => {
    const { stdout, stderr, status } = await ask(failing.url, "Who?");
    expect([stdout, status]).toEqual(["", 4]);
    expect(stderr).toMatch(/401.*\[HTTP_/s);
  });

  it("says which words the shipped policy does not know", async () => {
    const { stderr } = await runCommand(askCommand, ["ask", "What is the capital of Norway?"]);
    expect(stderr).toContain("Norway");
    expect(stderr).toContain("docs/worlds.md");
  });

  it("reads one question per line of stdin", async () => {
    const input = "Who founded Nexula Amplex?\n\nWhere was Gala Quilvik born?\n";
    const { stdout, status } = await runCli(["ask", "--json"], { input });
    const asked = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { question: string }).question);
    expect([status, asked]).toEqual([0, input.trim().split("\n\n")]);
  });

  it("asks for a question when stdin has none", async () => {
    const { stderr, status } = await runCli(["ask"]);
    expect([status, stderr]).toEqual([2, expect.stringContaining("[USAGE]")]);
  });

  it("names a run folder without a checkpoint", async () => {
    const run = join(out, "run");
    mkdirSync(run);
    writeFileSync(join(run, "recipe.resolved.yaml"), "summary: empty\n");
    const { status, stderr } = await runCommand(askCommand, ["ask", "--policy", run, "Who?"]);
    expect([status, stderr]).toEqual([2, expect.stringContaining("[POLICY_IS_RUN]")]);
  });
});

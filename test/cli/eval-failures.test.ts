import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { scoreCommand } from "../../src/cli/commands/score.ts";
import { chatServer } from "../helpers/chat-server.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const evalCommand = commandNamed("eval");

const folder = temporaryFolder();
const at = (...names: string[]): string => join(folder, ...names);
const KINDS = ["right", "refusal", "empty", "reasoning", "nameless", "filtered", "html"];

/** A server that answers each question in its own way. */
const server = await chatServer(({ messages }, response) => {
  const said = (message: object, finish: string | null = "stop") => ({
    message,
    finish_reason: finish,
  });
  switch (KINDS.find((kind) => messages.some(({ content }) => content?.includes(kind)))) {
    case "right":
      return "<answer>Oslo</answer>";
    case "refusal":
      return said({ content: null, refusal: "I can't help with that." });
    case "reasoning":
      return said({ content: null, reasoning_content: "<answer>Oslo</answer>" });
    case "nameless":
      return said({ tool_calls: [{ id: "c", function: { name: null, arguments: "{}" } }] }, "tool_calls"); // prettier-ignore
    case "filtered":
      return said({ content: "<answer>Oslo</answer>" }, "content_filter");
    case "html":
      response.writeHead(200, { "content-type": "text/html" }).end("<title>Log in</title>");
      return null;
    default:
      return said({ content: "" });
  }
});

beforeAll(() => {
  const rows = KINDS.map((kind, i) => ({
    _id: `q${i}`,
    question: `A ${kind} one?`,
    answer: "Oslo",
    type: "bridge",
    supporting_facts: [["Oslo", 0]],
    context: [["Oslo", ["Oslo is a capital."]]],
  }));
  writeFileSync(at("q.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
});

describe("agentrl eval of a server that fails in part", () => {
  it("counts what the model does as wrong, leaves faults out, and shows both means", async () => {
    const args = [
      "eval",
      "--policy",
      `${server.url}/v1`,
      "--model",
      "m",
      "--dataset",
      at("q.jsonl"),
    ];
    const { status, stdout } = await runCommand(evalCommand, [
      ...[...args, "--out", at("out"), "--retries", "0", "--set", "environment.protocol=hermes"],
    ]);
    expect(status).toBe(6);
    const beside =
      "2 draws failed: not measured; with failures counted as wrong, over 7 questions: EM 0.143, F1 0.143";
    expect(stdout).toContain(beside);
    const lines = (file: string) => readFileSync(at("out", file), "utf8").trim().split("\n");
    const rows = lines("rows.jsonl").map((line) => JSON.parse(line) as { em: number; error?: { code: string } }); // prettier-ignore
    expect(rows.map(({ em, error }) => error?.code ?? em)).toEqual([
      ...[1, 0, 0, 0, 0],
      ...["COMPLETION_FILTERED", "HTTP_BAD_REPLY"],
    ]);
    expect(lines("trajectories.jsonl")[1]).toContain("I can't help with that.");
    expect(JSON.parse(readFileSync(at("out", "results.json"), "utf8"))).toMatchObject({
      n: 5,
      metrics: { em: 0.2 },
      errors: { n: 2, asWrong: { n: 7, em: 1 / 7, f1: 1 / 7 } },
    });
    const report = (format: string) =>
      runCommand(evalCommand, ["eval", "report", at("out"), "--format", format]);
    expect((await report("md")).stdout).toContain(beside);
    expect((await report("html")).stdout).toContain(beside);
    const scored = await runCommand(scoreCommand, ["score", "--rows", at("out", "rows.jsonl")]);
    expect(scored.stdout).toContain(beside);
  });

  it("shows one number of searches on every page where the strategy alone searches", async () => {
    const rag = await runCommand(evalCommand, [
      ...["eval", "--policy", `${server.url}/v1`, "--model", "m", "--dataset", at("q.jsonl")],
      ...["--strategy", "rag", "--limit", "1", "--out", at("rag"), "--format", "md"],
    ]);
    expect(rag.stderr).not.toContain("[");
    const cell = (text: string) => {
      const [head = [], , row = []] = text
        .split("\n")
        .filter((line) => line.startsWith("|"))
        .map((line) => line.split("|").map((each) => each.trim()));
      return row[head.indexOf("searches")];
    };
    expect(cell(rag.stdout)).toBe("–");
    const page = await runCommand(evalCommand, ["eval", "report", at("rag"), "--format", "html"]);
    expect(page.stdout).not.toMatch(/<th[^>]*>\s*searches\s*<\/th>\s*<td[^>]*>\s*0\.00/);
  });
});

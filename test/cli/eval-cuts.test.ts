import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { type ChatAnswer, chatServer } from "../helpers/chat-server.ts";
import { sendJson } from "../helpers/local-server.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const evalCommand = commandNamed("eval");

const folder = temporaryFolder();
const questions = join(folder, "qa.jsonl");
const long = "town ".repeat(800);
const record = (i: number): object => ({
  _id: `q${i}`,
  question: `Which town is number ${i}?`,
  answer: `Town ${i}`,
  context: [[`Town ${i}`, [`Town ${i} is number ${i}. ${long}`]]],
});
writeFileSync(
  questions,
  Array.from({ length: 10 }, (_, i) => `${JSON.stringify(record(i))}\n`).join(""),
);
const evaluate = async (answer: ChatAnswer, ...more: string[]) => {
  const server = await chatServer(answer);
  return runCommand(
    evalCommand,
    ["eval", "--policy", `${server.url}/v1`, "--model", "m", "--dataset", questions, ...more],
    `${folder}/`,
  );
};
const hidden = { message: { content: null }, finish_reason: "length" };

describe("cuts of an evaluation", () => {
  it("are an error where every reply ended before its text, and the message names --max-tokens", async () => {
    const { status, stderr } = await evaluate(() => hidden);
    expect(status).toBe(6);
    expect(stderr).toMatch(/--max-tokens \(500 tokens by the recipe\).*\[EVALUATION_ALL_CUT\]/);
  });

  it("are an error where the server's context was too short for every request", async () => {
    const { status, stderr } = await evaluate((_, response) => {
      const message = "This model's maximum context length is 512 tokens.";
      sendJson(response, { error: { message, type: "invalid_request_error" } }, 400);
      return null;
    });
    expect(status).toBe(6);
    expect(stderr).toMatch(/\[EVALUATION_ALL_CUT\]/);
  });

  it("are counted for messages, observations and contexts, and warned of", async () => {
    const { status, stdout, stderr } = await evaluate(({ messages }) => {
      const [first] = messages;
      if (/number 3/.test(first?.content ?? "")) return hidden;
      return messages.length === 1 ? "<search>town number</search>" : "<answer>Town 1</answer>";
    }, "--json");
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      metrics: { cut_message_rate: 0.1, cut_observation_rate: 0.9, cut_context_rate: 0 },
    });
    expect(stderr).toMatch(/messages were cut in 10 %.*--max-tokens/);
    expect(stderr).toMatch(/observations were cut in 90 %/);
    expect(stderr).not.toMatch(/contexts were cut/);
  });

  it("are not warned of where nothing was cut", async () => {
    const { stdout, stderr } = await evaluate(() => "<answer>Town 1</answer>");
    expect(stderr).not.toMatch(/were cut/);
    expect(stdout).toMatch(/^cut, of the questions: messages in 0/m);
  });

  it("follow --max-tokens, which each request then holds", async () => {
    const asked: unknown[] = [];
    await evaluate(
      (request) => {
        asked.push(request.max_tokens);
        return "<answer>Town 1</answer>";
      },
      ...["--max-tokens", "4000", "--limit", "1"],
    );
    expect(asked).toEqual([4000]);
  });
});

describe("an evaluation without any answer", () => {
  it("warns, names the pattern that reads answers, and shows the first reply", async () => {
    const { status, stderr } = await evaluate(() => "It is Town 0.", "--strategy", "direct");
    expect(status).toBe(0);
    expect(stderr).toContain("<answer>(.*?)</answer>");
    expect(stderr).toContain(JSON.stringify("It is Town 0."));
  });

  it("does not warn where one question has an answer", async () => {
    const { stderr } = await evaluate(({ messages }) =>
      /number 3/.test(messages[0]?.content ?? "") ? "<answer>no</answer>" : "It is Town 0.",
    );
    expect(stderr).not.toContain("It is Town 0.");
  });
});

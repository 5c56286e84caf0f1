import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { type AskedChat, chatServer, lastMessage } from "../helpers/chat-server.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const evalCommand = commandNamed("eval");

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);
const root = join(import.meta.dirname, "..", "..");

/** Searches with the question, then answers with the first word that it was shown of a passage. */
function answer(asked: AskedChat): string {
  const first = asked.messages[0]?.content ?? "";
  const question = /Question: (.*)/.exec(first)?.[1] ?? "";
  if (asked.messages.length === 1) return `<search>${question}</search>`;
  return `<answer>${/Title: ([^)]*)/.exec(lastMessage(asked))?.[1] ?? "nothing"}</answer>`;
}

const QUESTIONS = 120;
beforeAll(() => {
  const record = (i: number): object => ({
    _id: `q${i}`,
    question: `Which town is number ${i}?`,
    answer: `Town ${i}`,
    type: i % 2 === 0 ? "bridge" : "comparison",
    supporting_facts: [[`Town ${i}`, 0]],
    context: [[`Town ${i}`, [`Town ${i} is number ${i}.`]]],
  });
  const lines = Array.from({ length: QUESTIONS }, (_, i) => `${JSON.stringify(record(i))}\n`);
  writeFileSync(at("questions.jsonl"), lines.join(""));
});

const flagsFor = (url: string, ...more: string[]): string[] => [
  ...["eval", "--policy", `${url}/v1`, "--model", "m", "--dataset", at("questions.jsonl")],
  ...["--set", "policy.endpoint.retries=0", "--set", "policy.endpoint.timeoutMs=2000", ...more],
];
const evaluate = (url: string, ...more: string[]) =>
  runCommand(evalCommand, flagsFor(url, ...more), `${folder}/`);
const read = (name: string, file: string): string => readFileSync(join(at(name), file), "utf8");

describe("agentrl eval of a server", () => {
  it("explains the protocol, scores the answers and says what was asked and how long it took", async () => {
    const server = await chatServer(answer);
    const { stdout, stderr, status } = await evaluate(server.url, "--json");
    expect({
      status,
      stderr: stderr.replaceAll(/[\d.]+( ms| s|\/s| questions\/s)/g, "N$1"),
    }).toEqual({
      status: 0,
      stderr: expect.stringContaining(
        "240 requests (0 retried, 0 given up); 2,400 + 960 tokens",
      ) as string,
    });
    const result = JSON.parse(stdout) as Record<string, unknown>;
    expect(result).toMatchObject({
      n: QUESTIONS,
      errors: { n: 0 },
      metrics: { em: 1, searches: 1, completion_tokens: 8, prompt_tokens: 20 },
      policy: { from: `${server.url}/v1`, model: "m" },
      protocol: { rendering: { api: "chat" }, questions: QUESTIONS },
      requests: { requests: 240 },
    });
    const [first] = server.received.map(({ body }) => JSON.parse(body) as AskedChat);
    expect(lastMessage(first!)).toMatch(/^Answer the question below/);
  });

  it("asks nothing again with --cache, and asks every draw of a question for itself", async () => {
    const server = await chatServer(answer);
    const cached = (...more: string[]) =>
      evaluate(server.url, "--cache", at("replies"), "--limit", "3", "--json", ...more);
    const sampled = ["--samples", "2", "--temperature", "1"];
    const first = await cached(...sampled);
    expect(server.received).toHaveLength(12);
    const again = await cached(...sampled);
    expect(server.received).toHaveLength(12);
    const { metrics, requests } = JSON.parse(again.stdout) as Record<string, unknown>;
    expect(metrics).toEqual((JSON.parse(first.stdout) as Record<string, unknown>)["metrics"]);
    expect(requests).toMatchObject({ requests: 0, cached: 12 });
  });

  it("says once why rollouts failed, and shows no number where nothing was measured", async () => {
    const server = await chatServer((_, response) => {
      response.writeHead(401, { "content-type": "application/json" });
      response.end('{"error":{"message":"no such key"}}');
      return null;
    });
    const { stdout, stderr, status } = await evaluate(server.url, "--limit", "3");
    expect(status).toBe(6);
    expect(
      stderr.match(/^HTTP_STATUS: policy \(.*status 401, saying .*no such key/gm),
    ).toHaveLength(1);
    expect(stdout).not.toContain("NaN");
    expect(stdout).toMatch(/^all +0 +– +– /m);
  });

  it("asks again only what failed, and ends with the files of a run in which nothing did", async () => {
    let mended = true;
    const server = await chatServer((asked, response) => {
      if (mended || !/number (7|8|31)\?/.test(asked.messages[0]!.content!)) return answer(asked);
      response.destroy();
      return null;
    });
    await evaluate(server.url, "--out", at("straight"));
    mended = false;
    const failed = await evaluate(server.url, "--out", at("shaky"));
    expect(failed.status).toBe(6);
    expect(failed.stderr).toMatch(
      /3 rollouts failed and are not measured \(HTTP_UNREACHABLE 3\).*\[EVALUATION_INCOMPLETE\]/,
    );
    const results = JSON.parse(read("shaky", "results.json")) as object;
    expect(results).toMatchObject({ n: QUESTIONS - 3, metrics: { em: 1 } });
    const again = ["--out", at("shaky"), "--resume"];
    expect(await evaluate(server.url, ...again, "--allow-errors", "3")).toMatchObject({
      status: 0,
    });
    mended = true;
    server.received.length = 0;
    expect(await evaluate(server.url, ...again)).toMatchObject({ status: 0 });
    expect(server.received).toHaveLength(6);
    for (const file of ["rows.jsonl", "trajectories.jsonl", "results.json"]) {
      expect(read("shaky", file)).toBe(read("straight", file));
    }
  });

  it("gives up where nothing answers, with its own status, and goes on once something does", async () => {
    let down = true;
    const server = await chatServer((asked, response) => {
      if (!down) return answer(asked);
      response.destroy();
      return null;
    });
    const given = await evaluate(server.url, "--out", at("down"));
    expect(given.status).toBe(6);
    expect(given.stderr).toMatch(/24 rollouts in a row failed \(0 were measured before\)/);
    expect(server.received.length).toBeLessThan(QUESTIONS);
    down = false;
    const resumed = await evaluate(server.url, "--out", at("down"), "--resume", "--json");
    expect(resumed.status).toBe(0);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ n: QUESTIONS, metrics: { em: 1 } });
  });

  it("killed at any moment and resumed, leaves the same bytes as a straight run, and asks nothing twice", async () => {
    const server = await chatServer(answer);
    await evaluate(server.url, "--out", at("whole"));
    const asked = server.received.length;
    const slow = "policy.endpoint.concurrency=2";
    for (let kills = 0; kills < 3; kills++) {
      const flags = [...flagsFor(server.url, "--out", at("killed"), "--set", slow), "--quiet"];
      const resume = existsSync(join(at("killed"), "rows.jsonl")) ? ["--resume"] : [];
      const child = spawn(process.execPath, [join(root, "bin", "agentrl.js"), ...flags, ...resume]);
      const seen = server.received.length;
      const ended = once(child, "exit");
      while (server.received.length < seen + 30 && child.exitCode === null) await wait(2);
      child.kill("SIGKILL");
      await ended;
    }
    const before = server.received.length;
    const { status } = await evaluate(server.url, "--out", at("killed"), "--resume");
    expect(status).toBe(0);
    // What had been written was not asked again.
    expect(server.received.length - before).toBeLessThan(asked - 3 * 20);
    for (const file of ["rows.jsonl", "trajectories.jsonl", "results.json"]) {
      expect(read("killed", file)).toBe(read("whole", file));
    }
  });

  it("wants to know which model is meant, and takes a server's flags for nothing else", async () => {
    const { status, stderr } = await runCommand(
      evalCommand,
      ["eval", "--policy", "http://127.0.0.1:1/v1"],
      `${folder}/`,
    );
    expect({ status, stderr }).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("--model must say which of its models is meant") as string,
    });
    const stray = await runCommand(evalCommand, ["eval", "--api", "tools"], `${folder}/`);
    expect(stray).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(
        "--api would have no effect: it belongs to a server (http://…/v1), and --policy is not",
      ) as string,
    });
    const resumed = await evaluate("http://127.0.0.1:1", "--resume");
    expect(resumed).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(
        "--resume would have no effect: it belongs to --out",
      ) as string,
    });
    const chat = await evaluate("http://127.0.0.1:1", "--chat");
    expect(chat).toMatchObject({
      status: 2,
      stderr: expect.stringContaining(
        "--chat would have no effect: it belongs to a model in a folder",
      ) as string,
    });
  });

  it("does not pass settings over that a server has no use for", async () => {
    const template = await evaluate("http://127.0.0.1:1", "--set", "policy.chat.replies=tool");
    expect(template).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('policy has "endpoint" and "chat"') as string,
    });
    const protocol = ["--set", "environment.protocol={name: hermes, calls: native}"];
    const flags = ["--api", "completions", "--out", at("refused"), ...protocol];
    const refused = await evaluate("http://127.0.0.1:1", ...flags);
    expect(refused).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('policy.endpoint.api is "completions"') as string,
    });
    // Nothing was asked: the folder is free for the next attempt.
    const server = await chatServer(() => "<answer>Town 0</answer>");
    expect(await evaluate(server.url, "--out", at("refused"), "--limit", "1")).toMatchObject({
      status: 0,
    });
    await server.close();
  });
});

describe("agentrl eval of a predictions file", () => {
  it("scores answers that were given elsewhere, by the questions' ids", async () => {
    const lines = Array.from({ length: QUESTIONS }, (_, i) =>
      JSON.stringify({ id: `q${i}`, prediction: i < 30 ? `the Town ${i}!` : i < 60 ? null : "no" }),
    );
    writeFileSync(at("answers.jsonl"), lines.join("\n"));
    const flags = ["--policy", at("answers.jsonl"), "--dataset", at("questions.jsonl"), "--json"];
    const { stdout, status } = await runCommand(evalCommand, ["eval", ...flags], `${folder}/`);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      n: QUESTIONS,
      metrics: { em: 0.25, answer_rate: 0.75 },
      strategy: "predictions",
      protocol: { strategy: "predictions", retriever: "none" },
    });
  });

  it("needs no passages, and takes no flags of how it would have been asked", async () => {
    const question = { id: "a", question: "Which?", golden_answers: ["Oslo"] };
    writeFileSync(at("bare.jsonl"), JSON.stringify(question));
    writeFileSync(at("given.jsonl"), '{"id": "a", "prediction": "Oslo"}\n');
    const flags = ["eval", "--policy", at("given.jsonl"), "--dataset", at("bare.jsonl"), "--json"];
    const { stdout, status } = await runCommand(evalCommand, flags, `${folder}/`);
    expect(status).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ n: 1, metrics: { em: 1 } });
    expect(
      await runCommand(evalCommand, [...flags, "--strategy", "rag"], `${folder}/`),
    ).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("given.jsonl, a file of answers") as string,
    });
  });

  it("names a question without a line: what was not answered has null", async () => {
    writeFileSync(at("some.jsonl"), '{"id": "q0", "prediction": "Town 0"}\n');
    const flags = ["--policy", at("some.jsonl"), "--dataset", at("questions.jsonl")];
    const { status, stderr } = await runCommand(evalCommand, ["eval", ...flags], `${folder}/`);
    expect({ status, stderr }).toMatchObject({
      status: 3,
      stderr: expect.stringContaining('has no answer to the question "q1"') as string,
    });
  });
});

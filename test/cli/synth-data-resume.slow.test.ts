import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { type AskedChat, chatServer, lastMessage } from "../helpers/chat-server.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const synthDataCommand = commandNamed("synth-data");

const folder = temporaryFolder();
const at = (...names: string[]): string => join(folder, ...names);
const root = join(import.meta.dirname, "..", "..");
const FILES = ["draws.jsonl", "samples.jsonl", "validation.jsonl", "synth.json", "manifest.json"];
const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0);

const run = (flags: readonly string[]) =>
  runCommand(synthDataCommand, ["synth-data", ...flags], `${folder}/`);

/** Runs the real command, and kills it when its log has grown by so many bytes. @returns whether it was still running. */
async function killed(flags: readonly string[], log: string, bytes: number): Promise<boolean> {
  const resume = sizeOf(log) > 0 ? ["--resume"] : [];
  const command = [join(root, "bin", "agentrl.js"), "synth-data", ...flags, "--quiet", ...resume];
  const child = spawn(process.execPath, command);
  const ended = once(child, "exit");
  const before = sizeOf(log);
  while (sizeOf(log) < before + bytes && child.exitCode === null) await wait(1);
  const running = child.exitCode === null;
  child.kill("SIGKILL");
  await ended;
  return running;
}

function expectSameFiles(name: string, straight: string): void {
  for (const file of FILES)
    expect(readFileSync(at(name, file), "utf8"), file).toBe(
      readFileSync(at(straight, file), "utf8"),
    );
}

describe("agentrl synth-data of the gold-chain teacher", { timeout: 120_000 }, () => {
  it("killed at any moment and resumed, leaves the same bytes as a straight run", async () => {
    const flags = (name: string): string[] => [
      ...["--recipe", "search-r1", "--tier", "mini", "--limit", "300", "--out", at(name)],
      ...["--set", "synth.draws=[{name: plain, samples: 2}]", "--set", "synth.validation=0.1"],
      ...["--set", "synth.steps=[answered, near-duplicate]"],
    ];
    expect(await run(flags("straight"))).toMatchObject({ status: 0 });
    const log = at("killed", "draws.jsonl");
    const whole = sizeOf(at("straight", "draws.jsonl"));
    let interrupted = 0;
    for (let kills = 0; kills < 3; kills++)
      interrupted += (await killed(flags("killed"), log, whole / 8)) ? 1 : 0;
    expect(interrupted).toBe(3);
    // A kill in the middle of a write: what is half there is drawn again.
    writeFileSync(log, readFileSync(log).subarray(0, sizeOf(log) - 40));
    const resumed = await run([...flags("killed"), "--resume"]);
    expect(resumed).toMatchObject({ status: 0 });
    expect(resumed.stderr).toMatch(/\d+ questions are taken over from killed\./);
    expectSameFiles("killed", "straight");
    // All is there: nothing is drawn, everything is written again.
    const complete = await run([...flags("killed"), "--resume", "--json"]);
    expect(JSON.parse(complete.stdout)).toMatchObject({ questions: 300, drawn: { rollouts: 0 } });
    expectSameFiles("killed", "straight");
  });
});

/** Searches with the question, then answers with the first word that it was shown of a passage. */
function answer(asked: AskedChat): string {
  const question = /Question: (.*)/.exec(asked.messages[0]?.content ?? "")?.[1] ?? "";
  if (asked.messages.length === 1) return `<search>${question}</search>`;
  return `<answer>${/Title: ([^)]*)/.exec(lastMessage(asked))?.[1] ?? "nothing"}</answer>`;
}

const QUESTIONS = 60;
beforeAll(() => {
  const record = (i: number): object => ({
    _id: `q${i}`,
    question: `Which town is number ${i}?`,
    answer: `Town ${i}`,
    type: "bridge",
    supporting_facts: [[`Town ${i}`, 0]],
    context: [[`Town ${i}`, [`Town ${i} is number ${i}.`]]],
  });
  const lines = Array.from({ length: QUESTIONS }, (_, i) => `${JSON.stringify(record(i))}\n`);
  writeFileSync(at("questions.jsonl"), lines.join(""));
});

const flagsFor = (url: string, name: string, ...more: string[]): string[] => [
  ...["--teacher", `${url}/v1`, "--model", "m", "--dataset", at("questions.jsonl")],
  ...["--set", "synth.teacher.retries=0", "--set", "synth.teacher.timeoutMs=2000"],
  ...["--set", "synth.draws=[{name: plain, samples: 2}]", "--out", at(name), ...more],
];

describe("agentrl synth-data of a server", { timeout: 120_000 }, () => {
  it("explains the protocol, keeps what was said as text, and names the server in every row", async () => {
    const server = await chatServer(answer);
    const { stdout, stderr, status } = await run(flagsFor(server.url, "straight-server", "--json"));
    expect({ status, stderr }).toMatchObject({
      status: 0,
      stderr: expect.stringContaining("240 requests (0 retried, 0 given up)") as string,
    });
    expect(JSON.parse(stdout)).toMatchObject({
      teacher: { name: "endpoint", from: `${server.url}/v1`, model: "m" },
      draws: [{ name: "plain", rollouts: 120, failed: 0, toolRate: 1, reward: 1 }],
      requests: { requests: 240 },
    });
    const [first] = server.received.map(({ body }) => JSON.parse(body) as AskedChat);
    expect(lastMessage(first!)).toMatch(/^Answer the question below/);
    const same = await run(["again", at("straight-server", "samples.jsonl"), "--all", "2"]);
    expect(same).toMatchObject({ status: 0 });
  });

  it("says of a server's rows that came out otherwise that servers need not repeat themselves", async () => {
    let word = "first";
    const server = await chatServer(() => `<answer>the ${word}</answer>`);
    await run(flagsFor(server.url, "moody", "--limit", "1", "--set", "synth.steps=[]"));
    word = "second";
    const { stdout, stderr, status } = await run(["again", at("moody", "samples.jsonl"), "--all"]);
    expect(status).toBe(4);
    expect(stdout).toContain("q0/plain-0: trajectory.calls.0.completion.0.text was");
    expect(stderr).toContain("Servers need not repeat themselves");
  });

  it("asks again only what failed, and ends with the files of a run in which nothing did", async () => {
    let mended = true;
    const server = await chatServer((asked, response, count) => {
      const question = asked.messages[0]?.content ?? "";
      if (mended || !/number (7|8|31)\?/.test(question) || count % 2 === 0) return answer(asked);
      response.destroy();
      return null;
    });
    await run(flagsFor(server.url, "unshaken"));
    mended = false;
    const failed = await run(flagsFor(server.url, "shaky"));
    expect(failed.status).toBe(4);
    expect(failed.stderr).toMatch(
      /(\d) rollouts failed and gave no sample \(HTTP_UNREACHABLE \1\); the first: \S.*\[SYNTHESIS_INCOMPLETE\]/,
    );
    const count = Number(/(\d) rollouts failed/.exec(failed.stderr)?.[1]);
    const allowed = await run(flagsFor(server.url, "shaky", "--resume", "--allow-errors", "6"));
    expect(allowed).toMatchObject({ status: 0 });
    mended = true;
    server.received.length = 0;
    expect(await run(flagsFor(server.url, "shaky", "--resume"))).toMatchObject({ status: 0 });
    expect(count).toBeGreaterThan(0);
    expect(server.received.length).toBeLessThanOrEqual(2 * count);
    expectSameFiles("shaky", "unshaken");
  });

  it("gives up where nothing answers, and goes on once something does", async () => {
    let down = true;
    const server = await chatServer((asked, response) => {
      if (!down) return answer(asked);
      response.destroy();
      return null;
    });
    const given = await run(flagsFor(server.url, "down"));
    expect(given.status).toBe(4);
    expect(given.stderr).toMatch(
      /24 rollouts in a row failed \(0 were drawn before in this run\).*\[SYNTHESIS_GIVEN_UP\]/,
    );
    expect(server.received.length).toBeLessThan(2 * QUESTIONS);
    down = false;
    const resumed = await run(flagsFor(server.url, "down", "--resume", "--json"));
    expect(resumed.status).toBe(0);
    expect(JSON.parse(resumed.stdout)).toMatchObject({ questions: QUESTIONS, failures: {} });
  });

  it("killed at any moment and resumed, asks nothing twice that was written", async () => {
    const server = await chatServer(answer);
    await run(flagsFor(server.url, "whole"));
    const asked = server.received.length;
    const log = at("halted", "draws.jsonl");
    const slow = ["--concurrency", "2"];
    const sixth = sizeOf(at("whole", "draws.jsonl")) / 6;
    for (let kills = 0; kills < 3; kills++)
      await killed(flagsFor(server.url, "halted", ...slow), log, sixth);
    server.received.length = 0;
    const { status } = await run(flagsFor(server.url, "halted", "--resume"));
    expect(status).toBe(0);
    expect(server.received.length).toBeLessThanOrEqual(asked / 2);
    expectSameFiles("halted", "whole");
  });
});

import type { ServerResponse } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { type AskedChat, chatServer } from "../helpers/chat-server.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { type AgentrlProcess, runAgentrl, startAgentrl } from "./agentrl-process.ts";
import { differences, productHashes } from "./same-products.ts";
import { trainArguments } from "./small-training.ts";

const cwd = temporaryFolder();
const STEPS = 3;
const RECIPE = ["--recipe", "search-r1", "--tier", "smoke"];
const nextMoment = (): Promise<void> => new Promise((done) => setTimeout(done, 20));

beforeAll(async () => {
  const world = ["--out", "world", "--people", "100", "--questions", "40", "--splits", "test"];
  const made = [
    await runAgentrl(["data", "generate", "tinyworld", ...world], { cwd }),
    await runAgentrl(["index", "build", "world/corpus.jsonl", "--out", "idx"], { cwd }),
  ];
  expect(made.map(({ status }) => status)).toEqual([0, 0]);
});

/** A retriever as a process of its own; `port` 0 takes any free one. */
async function serve(port: number): Promise<{ port: number; server: AgentrlProcess }> {
  const flags = ["--index", "idx", "--port", String(port), "--json"];
  const server = startAgentrl(["serve", ...flags], { cwd });
  while (!server.said().includes('"url"')) await nextMoment();
  const found = /127\.0\.0\.1:(\d+)/.exec(server.said())?.[1];
  return { port: Number(found), server };
}

function filesOf(run: string): Record<string, string> {
  const hashes = Object.entries(productHashes(cwd, [run]));
  return Object.fromEntries(hashes.map(([path, hash]) => [path.slice(run.length + 1), hash]));
}

/** Kills a server when a run has said something, and starts it again after a while. */
async function goneForAWhile(
  { port, server }: { port: number; server: AgentrlProcess },
  hasCome: () => boolean,
): Promise<AgentrlProcess> {
  while (!hasCome()) await nextMoment();
  server.child.kill("SIGKILL");
  await server.ended;
  await new Promise((done) => setTimeout(done, 2000));
  return (await serve(port)).server;
}

describe("a retriever that dies and returns", () => {
  it("in the middle of a training costs time alone: the bytes are those of a training beside one that stayed", async () => {
    const up = await serve(0);
    const url = `http://127.0.0.1:${up.port}`;
    const remote = ["--set", `retriever={name: search-r1-server, url: "${url}", retries: 20}`];
    const flags = (out: string): string[] => trainArguments(out, STEPS, ...remote);
    const straight = await runAgentrl(flags("straight"), { cwd });
    expect(straight.status, straight.stderr).toBe(0);
    const running = startAgentrl(flags("cut"), { cwd });
    const again = await goneForAWhile({ ...up }, () => running.said().includes(" 1/3"));
    const { status, stderr } = await running.ended;
    again.child.kill("SIGTERM");
    expect((await again.ended).status).toBe(0);
    expect(status, stderr).toBe(0);
    expect(differences(filesOf("straight"), filesOf("cut"))).toEqual([]);
  });

  it("too late for an evaluation's patience leaves questions open, which --resume asks again", async () => {
    const up = await serve(0);
    const url = `http://127.0.0.1:${up.port}`;
    const impatient = "retries: 0, timeoutMs: 2000, deadlineMs: 2000";
    const args = (out: string): string[] => [
      ...["eval", ...RECIPE, "--dataset", "world/test.jsonl", "--out", out, "--limit", "12"],
      // A strategy that searches for certain, whatever the policy does.
      ...["--strategy", "rag"],
      ...["--set", `retriever={name: search-r1-server, url: "${url}", ${impatient}}`],
    ];
    const straight = await runAgentrl(args("eval-straight"), { cwd });
    expect(straight.status, straight.stderr).toBe(0);
    up.server.child.kill("SIGKILL");
    await up.server.ended;
    const cut = await runAgentrl(args("eval-cut"), { cwd });
    // A server that is not there at the start is named before anything is asked.
    expect([4, 6], cut.stderr).toContain(cut.status);
    expect(cut.stderr).toContain(url);
    expect(cut.stderr).toMatch(/HTTP_UNREACHABLE/);
    const { server } = await serve(up.port);
    const resumed = await runAgentrl([...args("eval-cut"), "--resume"], { cwd });
    server.child.kill("SIGTERM");
    await server.ended;
    expect(resumed.status, resumed.stderr).toBe(0);
    expect(differences(filesOf("eval-straight"), filesOf("eval-cut"))).toEqual([]);
  });
});

/** An endpoint that hangs until it is woken: it takes requests and never answers. */
async function hangingEndpoint(): Promise<{ url: string; wake: () => void }> {
  let awake = false;
  const held: ServerResponse[] = [];
  const { url } = await chatServer((asked: AskedChat, response) => {
    if (awake) return asked.messages.length < 2 ? "<search>town</search>" : "<answer>none</answer>";
    held.push(response);
    return null;
  });
  return {
    url: `${url}/v1`,
    wake: () => {
      awake = true;
      for (const response of held) response.destroy();
    },
  };
}

describe("an endpoint that hangs", () => {
  it("ends an evaluation by name after its deadline, and --resume asks again", async () => {
    const { url, wake } = await hangingEndpoint();
    const patience = { timeoutMs: 4000, deadlineMs: 4000, retries: 0 };
    const sets = Object.entries(patience).map(([key, value]) => `policy.endpoint.${key}=${value}`);
    const args = [
      ...["eval", ...RECIPE, "--policy", url, "--model", "m", "--dataset", "world/test.jsonl"],
      ...["--index", "idx", "--out", "eval-hung", ...sets.flatMap((set) => ["--set", set])],
    ];
    const hung = await runAgentrl(args, { cwd });
    expect(hung.status, hung.stderr).toBe(6);
    expect(hung.stderr).toMatch(/HTTP_TIMEOUT.*\[EVALUATION_GIVEN_UP\]/s);
    wake();
    const resumed = await runAgentrl([...args, "--resume"], { cwd });
    expect(resumed.status, resumed.stderr).toBe(0);
  });

  it("ends a synthesis by name after its deadline, and --resume asks again", async () => {
    const { url, wake } = await hangingEndpoint();
    const patience = { timeoutMs: 4000, deadlineMs: 4000, retries: 0 };
    const sets = Object.entries(patience).map(([key, value]) => `synth.teacher.${key}=${value}`);
    const args = [
      ...[
        "synth-data",
        ...RECIPE,
        "--teacher",
        url,
        "--model",
        "m",
        "--dataset",
        "world/test.jsonl",
      ],
      ...["--index", "idx", "--out", "synth-hung", ...sets.flatMap((set) => ["--set", set])],
      // The endpoint answers, and wrong.
      ...["--set", "synth.steps=[]"],
    ];
    const hung = await runAgentrl(args, { cwd });
    expect(hung.status, hung.stderr).toBe(4);
    expect(hung.stderr).toMatch(/HTTP_TIMEOUT.*\[SYNTHESIS_GIVEN_UP\]/s);
    wake();
    const resumed = await runAgentrl([...args, "--resume"], { cwd });
    expect(resumed.status, resumed.stderr).toBe(0);
  });
});

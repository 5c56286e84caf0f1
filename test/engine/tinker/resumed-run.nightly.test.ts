import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { createServer, request as httpRequest, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { type AgentrlProcess, runAgentrl, startAgentrl } from "../../faults/agentrl-process.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const STEPS = 3;
let server: AgentrlProcess;
let url = "";

/** `agentrl serve engine` as a process of its own; the same port again continues with the saved weights. */
async function serve(port: number): Promise<void> {
  const args = ["--policy", "base", "--data", "weights", "--max-models", "32", "--json"];
  server = startAgentrl(["serve", "engine", ...args, "--port", String(port)], { cwd: folder });
  await until(() => server.said().includes('{"url"'));
  url = /"url":"([^"]+)"/.exec(server.said())?.[1] ?? "";
}

async function until(holds: () => boolean): Promise<void> {
  for (let n = 0; !holds(); n++) {
    if (n > 2000) throw new Error(`waited 60 s for ${holds.toString()}`);
    await wait(30);
  }
}

function train(out: string, address: string, more: readonly string[] = []): string[] {
  const sets = [
    ...["engine.name=tinker", `engine.url=${address}`, "policy.lora={}", "checkpoints.every=1"],
    ...[`algorithm.steps=${STEPS}`, "evaluation.dataset.questions=2", ...more],
  ].flatMap((set) => ["--set", set]);
  return ["train", "--recipe", "search-r1", "--tier", "smoke", ...sets, "--out", out];
}

/** Everything that a step computed: metrics, and each trajectory's tokens and log-probabilities. */
function computed(out: string): unknown {
  const lines = (path: string): unknown[] =>
    readFileSync(join(folder, out, path), "utf8")
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as unknown);
  const metrics = lines("metrics.jsonl") as { step: number; data: object }[];
  const calls = readdirSync(join(folder, out, "trajectories"))
    .filter((name) => name.startsWith("step-"))
    .sort()
    .map((name) =>
      (lines(join("trajectories", name)) as { calls: object[] }[]).map((each) => each.calls),
    );
  return { metrics: metrics.map(({ step, data }) => ({ step, data })), calls };
}

let straight: unknown;
beforeAll(async () => {
  mkdirSync(folder, { recursive: true });
  await serve(0);
  const { status, stderr } = await runAgentrl(train("straight", url), { cwd: folder });
  expect(status, stderr).toBe(0);
  straight = computed("straight");
}, 120_000);
afterAll(async () => {
  server.child.kill();
  await server.ended;
});

async function resumed(args: readonly string[]): Promise<void> {
  const { status, stderr } = await runAgentrl([...args, "--resume"], { cwd: folder });
  expect(status, stderr).toBe(0);
  expect(computed(args.at(-1)!)).toEqual(straight);
}

const saved = (out: string, step: number): boolean =>
  existsSync(join(folder, out, "checkpoints", `step-${step}`, "checkpoint.json"));

describe("a run over serve engine, through the command line", () => {
  it("learns at each step", () => {
    const { metrics } = straight as { metrics: { data: Record<string, number> }[] };
    expect(metrics.map(({ data }) => data["optimizer/grad_norm"]! > 0)).toEqual([true, true, true]);
  });

  it("continues as if it had not stopped when the client was killed", async () => {
    const client = startAgentrl(train("killed", url), { cwd: folder });
    await until(() => saved("killed", 1));
    await wait(100);
    client.child.kill("SIGKILL");
    expect((await client.ended).signal).toBe("SIGKILL");
    expect(saved("killed", STEPS)).toBe(false);
    await resumed(train("killed", url));
  });

  it("stops with a named error when the server was killed, and continues at the restarted one", async () => {
    const client = startAgentrl(train("orphan", url), { cwd: folder });
    await until(() => saved("orphan", 1));
    server.child.kill("SIGKILL");
    const { status, stderr, ms } = await client.ended;
    expect(status).toBe(4);
    expect(stderr).toMatch(/HTTP_UNREACHABLE|HTTP_CUT/);
    expect(ms).toBeLessThan(90_000);
    expect(saved("orphan", STEPS)).toBe(false);
    await serve(Number(new URL(url).port));
    await resumed(train("orphan", url));
  });
});

type Fault = (reply: ServerResponse) => void;

const status =
  (code: number): Fault =>
  (reply) =>
    reply
      .writeHead(code, { "content-type": "application/json" })
      .end('{"detail":"as the test asks"}');

/**
 * The server behind a proxy that spoils the replies to some forward_backward calls, after the server has done them if `done`.
 * @param spoils which of the calls, counted from 1.
 */
async function faulty(
  fault: Fault,
  spoils: (n: number) => boolean,
  done: boolean,
): Promise<string> {
  let count = 0;
  const proxy = createServer((asked, reply) => {
    const spoiled = asked.url === "/api/v1/forward_backward" && spoils(++count);
    if (spoiled && !done) {
      asked.resume().on("end", () => {
        fault(reply);
      });
      return;
    }
    const { method, headers, url: path } = asked;
    const onward = httpRequest(new URL(path ?? "", url), { method, headers }, (answer) => {
      if (spoiled)
        answer.resume().on("end", () => {
          fault(reply);
        });
      else answer.pipe(reply.writeHead(answer.statusCode ?? 502, answer.headers));
    });
    onward.on("error", () => reply.destroy());
    asked.pipe(onward);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
}

const half: Fault = (reply) => {
  reply.writeHead(200, { "content-type": "application/json", "content-length": "60" });
  reply.write('{"request_id":', () => reply.destroy());
};
const silence: Fault = () => undefined;

describe("a server with faults, through the command line", () => {
  // Step 2 begins after some calls of step 1: the fifth call is in it or later.
  it.each([
    ["429", status(429), false],
    ["500 after the work was done", status(500), true],
    ["half a reply after the work was done", half, true],
  ] as const)(
    "%s, once: the run goes on, and nothing is learned twice",
    async (name, fault, done) => {
      const out = name.replaceAll(" ", "-");
      const address = await faulty(fault, (n) => n === 5, done);
      const { status: code, stderr } = await runAgentrl(train(out, address), { cwd: folder });
      expect(code, stderr).toBe(0);
      expect(computed(out)).toEqual(straight);
    },
  );

  it.each([
    ["409", status(409), "ENGINE_REFUSED"],
    ["415", status(415), "ENGINE_REFUSED"],
    ["500", status(500), "HTTP_STATUS"],
    ["half-a-reply", half, "HTTP_CUT"],
    ["silence", silence, "HTTP_TIMEOUT|ENGINE_STALLED"],
  ] as const)(
    "%s until the run ends: a named error in bounded time, and --resume equals a run without faults",
    async (name, fault, code) => {
      let isSound = false;
      const address = await faulty(fault, (n) => n >= 5 && !isSound, false);
      const out = `ended-${name}`;
      const args = train(out, address, ["deadlines.engineSeconds=8"]);
      const ended = await runAgentrl(args, { cwd: folder });
      expect(ended.status).toBe(4);
      expect(ended.stderr).toMatch(new RegExp(code));
      expect(ended.ms).toBeLessThan(60_000);
      expect(saved(out, 0)).toBe(true);
      expect(saved(out, STEPS)).toBe(false);
      isSound = true;
      await resumed(args);
    },
  );
});

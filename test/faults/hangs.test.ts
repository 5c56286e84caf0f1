import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { runAgentrl } from "./agentrl-process.ts";

const cwd = temporaryFolder();
const preload = new URL("./stuck-worker.mjs", import.meta.url).href;
/** Newer versions of Node can leave a process whose threads hang with its own status. */
const canLeave = "execve" in process;

const train = (out: string, ...settings: string[]): string[] => [
  ...["train", "--recipe", "search-r1", "--tier", "smoke", "--out", out, "--seed", "3"],
  ...["engine.workers=2", ...settings].flatMap((setting) => ["--set", setting]),
];

/** Every line of a JSON-lines file of a run. */
function linesOf<T>(out: string, file: string): T[] {
  const lines = readFileSync(join(cwd, out, file), "utf8")
    .trim()
    .split("\n");
  return lines.map((line) => JSON.parse(line) as T);
}

/** A retrieval server of Search-R1's dialect, of whose searches every third is never answered. */
async function hangingRetriever(): Promise<string> {
  let asked = 0;
  const answer = (response: ServerResponse): void => {
    asked += 1;
    if (asked % 3 === 0) return;
    const document = { id: "1", contents: '"Oslo"\nOslo is the capital of Norway.' };
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ result: [[{ document, score: 1 }]] }));
  };
  const server = createServer((request, response) => {
    if (request.url !== "/retrieve") response.writeHead(404).end();
    else
      request
        .on("data", () => undefined)
        .on("end", () => {
          answer(response);
        });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe("a retriever that hangs", () => {
  it("costs the rollouts that wait for it, which are not scored, and no more: who waits for what is told, and the run ends well", async () => {
    const url = await hangingRetriever();
    const { status, stderr } = await runAgentrl(
      train(
        "hanging",
        ...[`retriever={name: search-r1-server, url: "${url}"}`, "evaluation.retriever=bm25"],
        "deadlines={toolSeconds: 4, noticeSeconds: 1}",
      ),
      { cwd },
    );
    expect(status, stderr).toBe(0);
    const files = readdirSync(join(cwd, "hanging", "trajectories"));
    const trajectories = files.flatMap((file) =>
      linesOf<{ id: string; end: string; error?: { code: string }; reward: number | null }>(
        "hanging",
        join("trajectories", file),
      ),
    );
    const failed = trajectories.filter(({ end }) => end === "tool-error");
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.length).toBeLessThan(trajectories.length);
    for (const { error, reward } of failed) {
      expect([error?.code, reward]).toEqual(["TOOL_TIMEOUT", null]);
    }
    const told = linesOf<{ kind: string; message: string }>("hanging", "events.jsonl")
      .filter(({ kind }) => kind === "waiting")
      .map(({ message }) => message);
    expect(told).toContainEqual(
      expect.stringMatching(
        /^waiting \d s: tool corpus-search for trajectory .+ \(query ".*"\), since [\d:]{8}; deadline 4 s/,
      ),
    );
    expect(told).toContainEqual(
      expect.stringMatching(/^waiting \d s: server search-r1-server for http:.*\/retrieve, since /),
    );
  });
});

describe("an engine whose thread hangs", () => {
  const stuck = { NODE_OPTIONS: `--import ${preload}`, STUCK_CALL: "forwardBackward" };

  it("ends the run with status 7, keeping the steps that were done, and the run goes on from them", async () => {
    const recipe = train("stuck", "deadlines={engineSeconds: 8}");
    // Two updates a step: the first of the second step.
    const ended = await runAgentrl(recipe, { cwd, env: { ...stuck, STUCK_AT: "4" } });
    expect(ended.status, ended.stderr).toBe(7);
    expect(ended.stderr).toMatch(
      /^error: engine worker [12] of 2: no progress for \d+ s, since [\d:]{8}, during forwardBackward \(.* positions, \d+ of them scored\)\. Checkpoints are kept: run the same command with --resume\..* \[ENGINE_STALLED\]$/m,
    );
    const resumed = await runAgentrl([...recipe, "--resume"], { cwd });
    expect(resumed.status, resumed.stderr).toBe(0);
    const straight = await runAgentrl(train("straight", "deadlines={engineSeconds: 8}"), { cwd });
    expect(straight.status, straight.stderr).toBe(0);
    const data = (out: string): unknown[] =>
      linesOf<{ data: unknown }>(out, "metrics.jsonl").map((line) => line.data);
    expect(data("stuck")).toEqual(data("straight"));
  });

  it("in the system, where no thread can be ended, ends the process all the same", async () => {
    execFileSync("mkfifo", [join(cwd, "pipe")]);
    const env = { ...stuck, STUCK_PIPE: join(cwd, "pipe") };
    const { status, signal, stderr } = await runAgentrl(
      train("held", "deadlines={engineSeconds: 8}", "engine.workers=1"),
      { cwd, env },
    );
    expect(stderr).toContain("[ENGINE_STALLED]");
    expect([status, signal]).toEqual(canLeave ? [7, null] : [null, "SIGKILL"]);
  });
});

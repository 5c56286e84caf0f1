import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { runCli } from "../helpers/run-cli.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { startServe, type StartedServe } from "../helpers/serve-command.ts";
import { naming } from "../helpers/naming.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const serveCommand = commandNamed("serve");

const cwd = temporaryFolder();

beforeAll(async () => {
  const passages = [
    { id: "a", title: "Oslo", text: "Oslo is the capital of Norway." },
    { id: "b", title: "Bergen", text: "A city in Norway with much rain." },
    { id: "c", title: "Lima", text: "The capital of Peru." },
  ];
  const lines = passages.map((passage) => `${JSON.stringify(passage)}\n`).join("");
  writeFileSync(join(cwd, "corpus.jsonl"), lines);
  expect((await runCli(["index", "build", "corpus.jsonl", "--out", "idx"], { cwd })).status).toBe(
    0,
  );
});

interface Line {
  url: string;
  name: string;
  fingerprint: string;
  passages?: number;
  pid: number;
}

const start = (...args: string[]): Promise<StartedServe<Line>> => startServe(args, { cwd });

const post = (url: string, body: unknown) =>
  fetch(`${url}/retrieve`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });

describe("agentrl serve", () => {
  it("serves an index until SIGTERM, then ends with 0", async () => {
    const { line, child, ended } = await start("--index", "idx");
    const { url, fingerprint } = line;
    expect(line).toEqual({ url, name: "bm25", fingerprint, passages: 3, pid: child.pid });
    const health = (await (await fetch(`${url}/health`)).json()) as object;
    expect(health).toMatchObject({ status: "ok", name: "bm25", fingerprint, passages: 3 });
    const reply = await post(url, { queries: ["rain"], topk: 1, return_scores: true });
    expect(reply.headers.get("x-index-fingerprint")).toBe(fingerprint);
    expect(await reply.json()).toMatchObject({
      result: [[{ document: { contents: '"Bergen"\nA city in Norway with much rain.' } }]],
    });
    child.kill("SIGTERM");
    const { status, stderr } = await ended;
    expect(status).toBe(0);
    expect(stderr).toMatch(
      naming(
        ...["bm25, 3 passages", `${url}/retrieve`, `${url}/health`, `${url}/stats`, fingerprint],
        ...[`curl -s ${url}/retrieve -H "content-type: application/json" -d '{"queries":`],
        ...[`kill ${child.pid}`, "Requests 1, queries 1, failed 0, turned away 0."],
      ),
    );
  });

  it("answers what it has taken in before it ends", async () => {
    const slow = "{ name: faulty, of: { name: bm25, index: idx }, latencyMs: 400 }";
    const { line, child, ended } = await start("--retriever", slow);
    const reply = post(line.url, { queries: ["rain"] });
    const inFlight = async (): Promise<number> => {
      const stats = (await (await fetch(`${line.url}/stats`)).json()) as { inFlight: number };
      return stats.inFlight;
    };
    while ((await inFlight()) === 0);
    child.kill("SIGTERM");
    expect((await reply).status).toBe(200);
    const { status, stderr } = await ended;
    expect(status).toBe(0);
    expect(stderr).toContain("Stopping; to be answered first: 1");
  });

  it("ends with 130 on Ctrl-C", async () => {
    const { child, ended } = await start("--index", "idx");
    child.kill("SIGINT");
    expect((await ended).status).toBe(130);
  });

  it("takes its token from the environment and names the variable, not the token", async () => {
    const { line, child, ended } = await start(
      ...["--index", "idx", "--token-env", "SERVE_TEST_TOKEN"],
      ...["--host", "0.0.0.0"],
    );
    const url = line.url.replace("0.0.0.0", "127.0.0.1");
    expect((await post(url, { queries: ["rain"] })).status).toBe(401);
    const stats = await fetch(`${url}/stats`, { headers: { authorization: "Bearer s3cret" } });
    expect(stats.status).toBe(200);
    child.kill("SIGTERM");
    const { stderr } = await ended;
    expect(stderr).toContain('-H "Authorization: Bearer $SERVE_TEST_TOKEN"');
    expect(stderr).not.toContain("s3cret");
  });

  it("passes its limits on", async () => {
    const { line } = await start(
      ...["--index", "idx", "--top-k-limit", "5", "--body-limit", "200"],
      ...["--max-queue", "9", "--concurrency", "2", "--timeout", "5000"],
    );
    const { url } = line;
    expect((await post(url, { queries: ["rain"], topk: 6 })).status).toBe(422);
    expect((await post(url, { queries: ["rain".repeat(50)] })).status).toBe(413);
    expect((await post(url, { queries: ["rain"], topk: 5 })).status).toBe(200);
  });

  it("ends with 2 for flags that do not fit", async () => {
    const serve = (...args: string[]) => runCommand(serveCommand, ["serve", ...args], `${cwd}/`);
    const index = ["--index", join(cwd, "idx")];
    const open = await serve(...index, "--host", "0.0.0.0");
    expect([open.status, open.stderr]).toEqual([
      2,
      expect.stringContaining("[SERVER_UNPROTECTED]"),
    ]);
    const unset = await serve(...index, "--token-env", "SERVE_TEST_UNSET");
    expect(unset.status).toBe(2);
    expect(unset.stderr).toMatch(
      naming("--token-env", "SERVE_TEST_UNSET", "export SERVE_TEST_UNSET=", "[SERVER_TOKEN]"),
    );
    expect((await serve()).stderr).toContain("--index or --retriever is missing");
    expect((await serve(...index, "--port", "70000")).status).toBe(2);
    expect((await serve("--index", join(cwd, "none"))).status).toBe(3);
  });
});

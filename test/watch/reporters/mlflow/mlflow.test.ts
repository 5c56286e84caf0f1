import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { basename, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { mlflow } from "../../../../src/watch/reporters/mlflow/mlflow.ts";
import type { Reporter, RunStart } from "../../../../src/watch/reporters/reporter.ts";
import { errorWith } from "../../../helpers/error-with.ts";
import { localServer, type LocalServer, sendJson } from "../../../helpers/local-server.ts";
import { recordedReplies } from "../../../helpers/recorded-replies.ts";
import { temporaryFolder } from "../../../helpers/temporary-folder.ts";

const recorded = recordedReplies("mlflow");
const folder = temporaryFolder();
let runs = 0;

function startOf(given: Partial<RunStart> = {}): RunStart {
  runs += 1;
  const out = join(folder, `run-${runs}`);
  const settings = { seed: 0 };
  return {
    recipe: "search-r1",
    tier: "mini",
    version: "0.1.0",
    out,
    afterStep: 0,
    settings,
    ...given,
  };
}

/** Answers as a real server did; `replies` puts others in place of them, by the last part of the path. */
async function mlflowServer(
  replies: Record<string, (count: number) => string> = {},
): Promise<LocalServer> {
  const usual: Record<string, string> = {
    "get-by-name": "experiment",
    search: "no run",
    "log-batch": "logged",
    update: "updated",
    get: "run",
  };
  const counts: Record<string, number> = {};
  return localServer((asked, response) => {
    const { pathname } = new URL(asked.url, "http://server");
    const call = basename(pathname);
    const count = (counts[pathname] ?? 0) + 1;
    counts[pathname] = count;
    const name = pathname.includes("/experiments/create")
      ? "experiment made"
      : (replies[call]?.(count) ?? usual[call] ?? "run made");
    const { status, body } = recorded(name);
    sendJson(response, body, status);
  });
}

async function opened(
  url: string,
  start: RunStart,
  options: object = {},
): Promise<{ reporter: Reporter; troubles: string[] }> {
  const troubles: string[] = [];
  const onTrouble = (message: string): void => void troubles.push(message);
  return { reporter: await mlflow.open({ url, ...options }, start, onTrouble), troubles };
}

function bodiesOf({ received }: LocalServer, call: string): Record<string, unknown>[] {
  return received
    .filter(({ url }) => url.includes(call))
    .map(({ body }) => JSON.parse(body) as Record<string, unknown>);
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("the mlflow reporter", () => {
  it("makes a run in the experiment, logs settings, steps and evaluations, and says how it ended", async () => {
    const server = await mlflowServer();
    const start = startOf();
    const { reporter, troubles } = await opened(server.url, start);
    reporter.evaluation("before", 0, { em: 0.25, "pass@4": 0.5 });
    reporter.metrics(1, { "losses/kl": NaN }, { rollout: 10 });
    reporter.event({ kind: "alarm", step: 1, message: "too low", facts: {} });
    await reporter.close("finished");
    expect(troubles).toEqual([]);
    expect(server.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      "GET /api/2.0/mlflow/experiments/get-by-name?experiment_name=search-r1",
      "POST /api/2.0/mlflow/runs/search",
      "POST /api/2.0/mlflow/runs/create",
      "POST /api/2.0/mlflow/runs/log-batch",
      "POST /api/2.0/mlflow/runs/log-batch",
      "POST /api/2.0/mlflow/runs/update",
    ]);
    const [created] = bodiesOf(server, "runs/create");
    expect(created).toMatchObject({ experiment_id: "7", run_name: basename(start.out) });
    const [settings, told] = bodiesOf(server, "log-batch");
    expect(settings).toMatchObject({ run_id: "run-1", params: [{ key: "seed", value: "0" }] });
    expect(told).toMatchObject({
      metrics: [
        { key: "evaluation/em", value: 0.25, step: 0 },
        { key: "evaluation/pass_at_4", value: 0.5, step: 0 },
        { key: "losses/kl", value: "NaN", step: 1 },
        { key: "timing/rollout", value: 10, step: 1 },
      ],
      tags: [{ key: "agentrl.event.alarm", value: "step 1: too low" }],
    });
    expect(bodiesOf(server, "runs/update")).toMatchObject([
      { run_id: "run-1", status: "FINISHED" },
    ]);
  });

  it.each([
    ["interrupted", "KILLED"],
    ["failed", "FAILED"],
  ] as const)("ends a run that was %s as %s", async (outcome, status) => {
    const server = await mlflowServer();
    const { reporter } = await opened(server.url, startOf());
    await reporter.close(outcome);
    expect(bodiesOf(server, "runs/update")).toMatchObject([{ status }]);
  });

  it("makes an experiment that is not there, and takes it where another made it at the same time", async () => {
    const server = await mlflowServer({
      "get-by-name": (count) => (count === 1 ? "experiment missing" : "experiment"),
    });
    const { reporter, troubles } = await opened(server.url, startOf(), { experiment: "mine" });
    await reporter.close("finished");
    expect(bodiesOf(server, "experiments/create")).toEqual([{ name: "mine" }]);
    expect(troubles).toEqual([]);
  });

  it("sends at most 1000 metrics and 100 parameters at a time", async () => {
    const server = await mlflowServer();
    const settings = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`key.${i}`, i]));
    const { reporter, troubles } = await opened(server.url, startOf({ settings }));
    const figures = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [`group/name_${i}`, i]),
    );
    for (let step = 1; step <= 8; step++) reporter.metrics(step, figures, {});
    await reporter.close("finished");
    const batches = bodiesOf(server, "log-batch").map(({ metrics, params }) => [
      (params as unknown[]).length,
      (metrics as unknown[]).length,
    ]);
    expect(batches.slice(0, 2)).toEqual([
      [100, 0],
      [50, 0],
    ]);
    expect(batches.slice(2).map(([, metrics]) => metrics)).toEqual([900, 900, 600]);
    expect(troubles).toEqual([]);
  });

  it("goes on with the same run, and does not tell again what is as it was", async () => {
    const server = await mlflowServer();
    const start = startOf();
    const first = await opened(server.url, start);
    for (const step of [1, 2, 3]) first.reporter.metrics(step, { "a/b": step }, { rollout: step });
    await first.reporter.close("interrupted");
    server.received.length = 0;
    const settings = { seed: 1, steps: 5 };
    const { reporter } = await opened(server.url, { ...start, afterStep: 1, settings });
    reporter.metrics(2, { "a/b": 2 }, { rollout: 99 });
    reporter.metrics(3, { "a/b": 3.5 }, { rollout: 99 });
    await reporter.close("finished");
    expect(server.received.map(({ url }) => url)).toEqual([
      "/api/2.0/mlflow/runs/get?run_id=run-1",
      ...["update", "log-batch", "log-batch", "update"].map(
        (call) => `/api/2.0/mlflow/runs/${call}`,
      ),
    ]);
    expect(bodiesOf(server, "runs/update")[0]).toEqual({ run_id: "run-1", status: "RUNNING" });
    const [changes, told] = bodiesOf(server, "log-batch");
    expect(changes).toMatchObject({
      params: [{ key: "steps", value: "5" }],
      tags: [{ key: "agentrl.changed.seed", value: "1 after step 1, before: 0" }],
    });
    expect(told).toMatchObject({
      metrics: [
        { step: 3, value: 3.5 },
        { step: 3, value: 99 },
      ],
    });
  });

  it("tells what may have arrived before a kill exactly as it was told then", async () => {
    const server = await mlflowServer();
    const start = startOf();
    const first = await opened(server.url, start);
    first.reporter.metrics(1, { "a/b": 1 }, { rollout: 11 });
    first.reporter.metrics(2, { "a/b": 2 }, { rollout: 22 });
    await first.reporter.close("interrupted");
    const [, before] = bodiesOf(server, "log-batch");
    // Killed after the server took it, before that could be written down.
    const file = join(start.out, "reporters/mlflow.jsonl");
    const lines = readFileSync(file, "utf8").split("\n");
    writeFileSync(file, lines.filter((line) => !line.includes('"told"')).join("\n"));
    server.received.length = 0;
    const { reporter } = await opened(server.url, { ...start, afterStep: 1 });
    reporter.metrics(2, { "a/b": 2 }, { rollout: 99 });
    await reporter.close("finished");
    const [told] = bodiesOf(server, "log-batch");
    const ofStep2 = (before?.["metrics"] as { step: number }[]).filter(({ step }) => step === 2);
    expect(told?.["metrics"]).toEqual(ofStep2);
  });

  it("finds a run that was made although the answer was lost", async () => {
    const server = await mlflowServer({ search: () => "run found" });
    const { reporter } = await opened(server.url, startOf());
    await reporter.close("finished");
    expect(bodiesOf(server, "runs/create")).toEqual([]);
    expect(bodiesOf(server, "runs/update")).toMatchObject([{ run_id: "run-1" }]);
  });

  it("ends the run of an earlier beginning in the folder that never said how it ended", async () => {
    const server = await mlflowServer();
    const start = startOf();
    const killed = await opened(server.url, start);
    killed.reporter.metrics(1, { "a/b": 1 }, {});
    await vi.waitUntil(() =>
      readFileSync(join(start.out, "reporters/mlflow.jsonl"), "utf8").includes("step/1"),
    );
    server.received.length = 0;
    const { reporter } = await opened(server.url, start);
    await reporter.close("finished");
    expect(bodiesOf(server, "runs/update").map(({ status }) => status)).toEqual([
      "KILLED",
      "FINISHED",
    ]);
    await killed.reporter.close("failed");
  });
});

describe("an MLflow server in trouble", () => {
  it("is told everything when it comes late", async () => {
    const port = await freePort();
    const { reporter, troubles } = await opened(`http://127.0.0.1:${port}`, startOf());
    reporter.metrics(1, { "a/b": 1 }, {});
    await vi.waitUntil(() => troubles.length > 0, { timeout: 5000 });
    const late = await mlflowServer();
    const forwarding = createServer((request, response) => {
      const body: Buffer[] = [];
      request.on("data", (chunk: Buffer) => body.push(chunk));
      request.on("end", () => {
        void fetch(`${late.url}${request.url}`, {
          method: request.method ?? "GET",
          body: body.length > 0 ? Buffer.concat(body) : undefined,
        }).then(async (reply) => {
          response.writeHead(reply.status);
          response.end(await reply.text());
        });
      });
    }).listen(port, "127.0.0.1");
    await reporter.close("finished");
    forwarding.close();
    expect(bodiesOf(late, "log-batch").at(-1)).toMatchObject({ metrics: [{ step: 1 }] });
    expect(troubles).toEqual([
      expect.stringMatching(
        /^mlflow \(http.*: no connection.*ECONNREFUSED.* The run continues; up to 2000 steps are kept/,
      ),
      "mlflow: all events were delivered in the end.",
    ]);
  });

  it("is told again what it failed to take, and has nothing twice", async () => {
    let failures = 0;
    const inner = await mlflowServer();
    const server = await localServer((asked, response) => {
      if (asked.url.includes("log-batch") && failures < 4) {
        failures += 1;
        response.writeHead(500);
        response.end("the database is gone");
        return;
      }
      void fetch(`${inner.url}${asked.url}`, {
        method: asked.method,
        body: asked.body === "" ? undefined : asked.body,
      }).then(async (reply) => {
        response.writeHead(reply.status);
        response.end(await reply.text());
      });
    });
    const { reporter, troubles } = await opened(server.url, startOf());
    reporter.metrics(1, { "a/b": 1 }, {});
    await vi.waitUntil(() => bodiesOf(inner, "log-batch").length > 0, { timeout: 10_000 });
    await reporter.close("finished");
    expect(bodiesOf(inner, "runs/create")).toHaveLength(1);
    expect(bodiesOf(inner, "log-batch")).toMatchObject([{ metrics: [{ step: 1, value: 1 }] }]);
    expect(troubles).toEqual([
      expect.stringContaining('status 500, saying "the database is gone"'),
      "mlflow: all events were delivered in the end.",
    ]);
  });

  it("costs the end of a run no more than its deadline when it hangs", async () => {
    const server = await localServer(() => undefined);
    const { reporter, troubles } = await opened(server.url, startOf(), { closeMs: 50 });
    reporter.metrics(1, { "a/b": 1 }, {});
    await reporter.close("finished");
    expect(troubles).toEqual([
      "mlflow: not delivered: 1 step, the end of the run. The run folder has all of it.",
    ]);
  });

  it("is said when it wants a password, which no message holds", async () => {
    vi.stubEnv("MLFLOW_TRACKING_USERNAME", "me");
    vi.stubEnv("MLFLOW_TRACKING_PASSWORD", "hunter2");
    const server = await localServer(({ headers }, response) => {
      response.writeHead(401);
      response.end(`no entry with ${headers.authorization} or hunter2`);
    });
    const { reporter, troubles } = await opened(server.url, startOf());
    await reporter.close("finished");
    const encoded = Buffer.from("me:hunter2").toString("base64");
    expect(server.received[0]?.headers.authorization).toBe(`Basic ${encoded}`);
    expect(troubles[0]).toContain("status 401");
    expect(troubles[0]).toContain("variable MLFLOW_TRACKING_PASSWORD");
    expect(troubles.join()).not.toMatch(new RegExp(`hunter2|${encoded}`));
  });

  it("is sent the token of the environment", async () => {
    vi.stubEnv("MLFLOW_TRACKING_TOKEN", "secret");
    const server = await mlflowServer();
    const { reporter } = await opened(server.url, startOf());
    await reporter.close("finished");
    expect(server.received[0]?.headers.authorization).toBe("Bearer secret");
  });

  it("is not followed elsewhere, which would carry keys there", async () => {
    const elsewhere = await mlflowServer();
    const server = await localServer((_, response) => {
      response.writeHead(302, { location: `${elsewhere.url}/login` });
      response.end();
    });
    const { reporter, troubles } = await opened(server.url, startOf());
    await reporter.close("finished");
    expect(elsewhere.received).toEqual([]);
    expect(troubles[0]).toContain(`${elsewhere.url}/login`);
  });

  it("loses what it refuses, and is told the rest", async () => {
    const server = await mlflowServer({
      "log-batch": (count) => (count === 2 || count === 3 ? "bad name" : "logged"),
    });
    const { reporter, troubles } = await opened(server.url, startOf());
    for (const step of [1, 2]) reporter.metrics(step, { "a/b": step }, {});
    await reporter.close("finished");
    const told = bodiesOf(server, "log-batch").map(({ metrics }) =>
      (metrics as { step: number }[]).map(({ step }) => step),
    );
    expect(told).toEqual([[], [1, 2], [1], [2], []].slice(0, told.length));
    expect(troubles[0]).toContain("status 400, saying");
    expect(troubles[1]).toBe("mlflow: not delivered: 1 step. The run folder has all of it.");
  });
});

describe("the address of an MLflow server", () => {
  it("is that of the environment where the recipe names none", async () => {
    const server = await mlflowServer();
    vi.stubEnv("MLFLOW_TRACKING_URI", server.url);
    vi.stubEnv("MLFLOW_EXPERIMENT_NAME", "from the environment");
    const reporter = await mlflow.open({}, startOf(), () => undefined);
    await reporter.close("finished");
    expect(server.received[0]?.url).toContain("experiment_name=from+the+environment");
  });

  it("must be given somewhere, and be a server's", async () => {
    const open = (): Promise<Reporter> => mlflow.open({}, startOf(), () => undefined);
    vi.stubEnv("MLFLOW_TRACKING_URI", "");
    await expect(open).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "reporters: mlflow.url is missing"),
    );
    vi.stubEnv("MLFLOW_TRACKING_URI", "sqlite:///mlruns.db");
    await expect(open).rejects.toThrow(errorWith("RECIPE_BAD_VALUE", "MLFLOW_TRACKING_URI is"));
  });
});

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

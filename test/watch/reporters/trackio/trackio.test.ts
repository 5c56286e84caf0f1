import { basename, join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { Reporter, RunStart } from "../../../../src/watch/reporters/reporter.ts";
import { trackio, trackioAccess } from "../../../../src/watch/reporters/trackio/trackio.ts";
import { errorWith } from "../../../helpers/error-with.ts";
import { localServer, type LocalServer, sendJson } from "../../../helpers/local-server.ts";
import { recordedReplies } from "../../../helpers/recorded-replies.ts";
import { temporaryFolder } from "../../../helpers/temporary-folder.ts";

const recorded = recordedReplies("trackio");
const folder = temporaryFolder();
let runs = 0;

function startOf(): RunStart {
  runs += 1;
  const out = join(folder, `run-${runs}`);
  const settings = { seed: 0 };
  return { recipe: "search-r1", tier: "mini", version: "0.1.0", out, afterStep: 0, settings };
}

/** Answers as a real server did; `replies` puts others in place of them, by the last part of the path. */
async function trackioServer(
  replies: Record<string, (count: number) => string> = {},
): Promise<LocalServer> {
  const usual: Record<string, string> = {
    version: "version",
    get_run_mutation_status: "allowed",
    bulk_log: "logged",
    bulk_alert: "alerted",
  };
  const counts: Record<string, number> = {};
  return localServer((asked, response) => {
    const call = basename(asked.url);
    const count = (counts[call] ?? 0) + 1;
    counts[call] = count;
    const { status, body } = recorded(replies[call]?.(count) ?? usual[call] ?? "unknown");
    sendJson(response, body, status);
  });
}

async function opened(
  url: string,
  start: RunStart,
): Promise<{ reporter: Reporter; troubles: string[] }> {
  const troubles: string[] = [];
  const onTrouble = (message: string): void => void troubles.push(message);
  return { reporter: await trackio.open({ url }, start, onTrouble), troubles };
}

interface Log {
  run_id: string;
  log_id: string;
  config?: unknown;
}

function logsOf({ received }: LocalServer): Log[] {
  return received
    .filter(({ url }) => url === "/api/bulk_log")
    .flatMap(({ body }) => (JSON.parse(body) as { kwargs: { logs: Log[] } }).kwargs.logs);
}

afterEach(() => {
  vi.unstubAllEnvs();
});

describe("the trackio reporter", () => {
  it("logs steps and evaluations with the settings, and events as alerts, by the write token", async () => {
    vi.stubEnv("TRACKIO_WRITE_TOKEN", "tok");
    const server = await trackioServer();
    const start = startOf();
    const { reporter, troubles } = await opened(server.url, start);
    reporter.metrics(1, { "losses/kl": NaN, "a/b": 0.5 }, { rollout: 10 });
    reporter.evaluation("after", 1, { em: 1 });
    reporter.event({ kind: "alarm", step: 1, message: "too low", facts: {} });
    await reporter.close("failed");
    expect(troubles).toEqual([]);
    expect(server.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      "GET /version",
      "POST /api/get_run_mutation_status",
      "POST /api/bulk_log",
      "POST /api/bulk_alert",
    ]);
    expect(server.received[2]?.headers["x-trackio-write-token"]).toBe("tok");
    const names = { project: "search-r1", run: basename(start.out) };
    const config = { recipe: "search-r1", tier: "mini", agentrl: "0.1.0", seed: 0 };
    const metrics = { "losses/kl": "NaN", "a/b": 0.5, "timing/rollout": 10 };
    const [step, evaluation] = logsOf(server);
    expect(step).toMatchObject({ ...names, step: 1, metrics, config });
    expect(evaluation).toMatchObject({ ...names, step: 1, metrics: { "evaluation/em": 1 } });
    expect(evaluation?.config).toBeUndefined();
    const { kwargs } = JSON.parse(server.received[3]?.body ?? "") as {
      kwargs: { alerts: object[] };
    };
    expect(kwargs.alerts).toMatchObject([
      { ...names, title: "alarm", text: "too low", level: "warn", step: 1 },
      { ...names, title: "run failed", level: "error" },
    ]);
  });

  it("gives what is told again by a run that goes on the ids that it had, which Trackio leaves out", async () => {
    const server = await trackioServer();
    const start = startOf();
    const first = await opened(server.url, start);
    for (const step of [1, 2]) first.reporter.metrics(step, { "a/b": step }, { rollout: 1 });
    await first.reporter.close("interrupted");
    const again = await opened(server.url, { ...start, afterStep: 1 });
    again.reporter.metrics(2, { "a/b": 2 }, { rollout: 99 });
    again.reporter.metrics(3, { "a/b": 3 }, { rollout: 99 });
    await again.reporter.close("finished");
    const anew = await opened(server.url, start);
    anew.reporter.metrics(1, { "a/b": 1 }, {});
    await anew.reporter.close("finished");
    const [one, two, twoAgain, three, other] = logsOf(server);
    expect(twoAgain?.log_id).toBe(two?.log_id);
    expect(new Set([one?.log_id, two?.log_id, three?.log_id]).size).toBe(3);
    expect(other?.run_id).not.toBe(one?.run_id);
  });

  it("keeps what a server refuses for its token, which it may have changed when it was started again", async () => {
    const server = await trackioServer({
      bulk_log: (count) => (count === 1 ? "token wanted" : "logged"),
    });
    const { reporter, troubles } = await opened(server.url, startOf());
    reporter.metrics(1, { "a/b": 1 }, {});
    await vi.waitUntil(() => troubles.length > 0);
    await reporter.close("finished");
    expect(logsOf(server).map(({ config }) => config !== undefined)).toEqual([true, true]);
    expect(troubles).toEqual([
      expect.stringContaining("A write_token is required"),
      "trackio: all events were delivered in the end.",
    ]);
  });

  it("says which token is wanted when the server takes none", async () => {
    const server = await trackioServer({ get_run_mutation_status: () => "stranger" });
    const { reporter, troubles } = await opened(server.url, startOf());
    reporter.metrics(1, { "a/b": 1 }, {});
    await reporter.close("finished");
    expect(logsOf(server)).toEqual([]);
    expect(troubles).toEqual([
      expect.stringMatching(
        /^trackio: the server does not take the write token\. Set TRACKIO_WRITE_TOKEN to/,
      ),
      "trackio: not delivered: 1 step, the end of the run. The run folder has all of it.",
    ]);
  });

  it("says so when the server is none of Trackio's", async () => {
    const server = await localServer((_, response) => {
      sendJson(response, { version: "1.0" });
    });
    const { reporter, troubles } = await opened(server.url, startOf());
    await reporter.close("finished");
    expect(troubles[0]).toContain("in the reply, $.api_version is missing");
  });
});

describe("the address of a Trackio server", () => {
  it("gives its token away from TRACKIO_SERVER_URL, as Trackio's own client reads it", () => {
    vi.stubEnv("TRACKIO_SERVER_URL", "http://127.0.0.1:7860/?write_token=tok");
    expect(trackioAccess(undefined)).toEqual({
      url: "http://127.0.0.1:7860/",
      keys: { TRACKIO_WRITE_TOKEN: "tok" },
      headers: { "x-trackio-write-token": "tok" },
    });
  });

  it("lets a token of the hub go to a Space only", () => {
    vi.stubEnv("TRACKIO_WRITE_TOKEN", "");
    vi.stubEnv("HF_TOKEN", "hf_x");
    expect(trackioAccess("https://me-board.hf.space").headers).toEqual({
      authorization: "Bearer hf_x",
    });
    for (const url of ["http://me-board.hf.space", "https://hf.space.example.org"])
      expect(trackioAccess(url).headers).toEqual({});
  });

  it("must be given somewhere", () => {
    vi.stubEnv("TRACKIO_SERVER_URL", "");
    expect(() => trackioAccess(undefined)).toThrow(
      errorWith("RECIPE_BAD_VALUE", "reporters: trackio.url is missing"),
    );
  });
});

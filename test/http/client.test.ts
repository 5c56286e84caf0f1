import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { z } from "../../src/base/schema.ts";
import { waits as allWaits } from "../../src/base/waits/waits.ts";
import { httpClient } from "../../src/http/client.ts";
import type { Endpoint, HttpEnvironment } from "../../src/http/endpoint.ts";
import { httpShape } from "../../src/http/http-options.ts";
import { errorWith } from "../helpers/error-with.ts";
import { localServer, sendJson } from "../helpers/local-server.ts";
import { naming } from "../helpers/naming.ts";

/** What the server does next; set by each test. */
let answer: (response: ServerResponse, count: number) => void;
const server = await localServer((_request, response, count) => {
  answer(response, count);
});
const waits: number[] = [];
/** A clock that only sleeping moves. */
let clock = 0;
/** What the clock on the wall says beyond it. */
let dateOffset = 0;
const environment: HttpEnvironment = {
  random: () => 0.5,
  now: () => clock,
  date: () => clock + dateOffset,
  sleep: (ms) => {
    waits.push(ms);
    clock += ms;
    return Promise.resolve();
  },
};
const KEY = "sk-secret/+value";

function clientOf(settings: Partial<Endpoint["settings"]> = {}, url = server.url) {
  const defaults = z.object(httpShape).parse(settings);
  return httpClient(
    {
      name: "probe",
      url,
      settings: defaults,
      headers: { authorization: `Bearer ${KEY}` },
      keys: { PROBE_KEY: KEY },
    },
    environment,
  );
}

/** The message of the failure, the port taken out. */
async function messageOf(failing: Promise<unknown>): Promise<string> {
  const error = await failing.then(
    () => new Error("it did not fail"),
    (reason: unknown) => reason as Error,
  );
  return error.message.replaceAll(/127\.0\.0\.1:\d+/g, "HOST");
}

beforeEach(() => {
  server.received.length = 0;
  waits.length = 0;
  clock = Date.UTC(2026, 0, 1);
});

describe("an HTTP client", () => {
  it("sends JSON with the endpoint's headers and gives the reply that fits the schema", async () => {
    answer = (response) => {
      sendJson(response, { hits: [1], more: true });
    };
    const schema = z.object({ hits: z.array(z.number()) });
    const asked = { path: "/search", parameters: { a: "x y" }, body: { q: "Oslo" } };
    const { value } = await clientOf({}, `${server.url}/v1/`).json(asked, schema);
    expect(value).toEqual({ hits: [1] });
    const [request] = server.received;
    expect(request).toMatchObject({ method: "POST", url: "/v1/search?a=x+y" });
    expect(request?.body).toBe('{"q":"Oslo"}');
    expect(request?.headers).toMatchObject({
      authorization: `Bearer ${KEY}`,
      "content-type": "application/json",
    });
  });

  it("tries again after 500 and waits longer each time", async () => {
    answer = (response, count) => {
      if (count < 3) response.writeHead(500).end("busy");
      else sendJson(response, "done");
    };
    expect((await clientOf().request({})).text).toBe('"done"');
    expect(waits).toEqual([250, 500]);
  });

  it("waits as long as Retry-After asks, in seconds and until a date", async () => {
    answer = (response, count) => {
      const date = new Date(clock + 4000).toUTCString();
      if (count < 3) response.writeHead(429, { "retry-after": count === 1 ? "2" : date }).end();
      else sendJson(response, "done");
    };
    expect((await clientOf({ retryDelayMs: 0 }).request({})).text).toBe('"done"');
    expect(waits).toEqual([2000, 4000]);
  });

  it("waits no longer and no shorter when the clock on the wall is set meanwhile", async () => {
    answer = (response, count) => {
      dateOffset += count === 1 ? -86_400_000 : 172_800_000;
      if (count < 3) response.writeHead(429, { "retry-after": "2" }).end();
      else sendJson(response, "late");
    };
    const begun = clock;
    await expect(clientOf().request({})).resolves.toMatchObject({ text: '"late"' });
    expect(clock - begun).toBeGreaterThan(4000);
    expect(clock - begun).toBeLessThan(10_000);
    dateOffset = 0;
  });

  it("is told while it lasts, by its server and without the query", async () => {
    let release = (): void => undefined;
    answer = (response) => {
      release = () => {
        sendJson(response, 1);
      };
    };
    const told: string[] = [];
    const watch = allWaits.watch({ noticeMs: 20, onLong: (message) => told.push(message) });
    const asked = clientOf().request({ path: "/search", parameters: { key: "secret" } });
    await expect.poll(() => told.length).toBeGreaterThan(0);
    release();
    await asked;
    watch.close();
    expect(told[0]).toMatch(
      /^waiting \d+ ms: server probe for http:\/\/127\.0\.0\.1:\d+\/search, since [\d:]{8}; deadline 120 s$/,
    );
    expect(allWaits.size).toBe(0);
  });

  it("does not wait for a Retry-After beyond its deadline", async () => {
    answer = (response) => response.writeHead(429, { "retry-after": "3600" }).end("slow down");
    const asking = clientOf({ deadlineMs: 1000 }).request({});
    await expect(asking).rejects.toThrow(errorWith("HTTP_STATUS"));
    expect(waits).toEqual([]);
    expect(await messageOf(clientOf({ deadlineMs: 1000 }).request({}))).toMatch(
      naming("probe (http://HOST/)", "429", '"slow down"', "1 attempt", "deadlineMs 1000"),
    );
  });

  it("asks once where asking twice could do harm", async () => {
    answer = (response) => response.writeHead(503).end();
    await expect(clientOf().request({ body: {} })).rejects.toThrow(errorWith("HTTP_STATUS"));
    expect(server.received).toHaveLength(1);
    const repeatable = clientOf({ retries: 2 }).request({ body: {}, idempotent: true });
    await expect(repeatable).rejects.toThrow(errorWith("HTTP_STATUS", "3 attempts in 0.8 s"));
    expect(server.received).toHaveLength(4);
  });

  it("names a server that hangs, after every attempt had its time", async () => {
    answer = () => undefined;
    const asking = clientOf({ timeoutMs: 40, retries: 1 }).request({});
    await expect(asking).rejects.toThrow(errorWith("HTTP_TIMEOUT"));
    expect(server.received).toHaveLength(2);
  });

  it("names a server that is too slow to finish its reply", async () => {
    answer = (response) => {
      response.writeHead(200).write('{"begun');
    };
    expect(await messageOf(clientOf({ timeoutMs: 40, retries: 0 }).request({}))).toBe(
      "probe (http://HOST/): no whole answer within 40 ms (1 attempt in 0.0 s). Raise timeoutMs, lower concurrency, or check whether the server is busy or stuck.",
    );
  });

  it("tries again after a cut connection, before and within the reply", async () => {
    answer = (response, count) => {
      if (count === 1) response.destroy();
      else if (count === 2) {
        response.writeHead(200, { "content-length": "100" }).write('{"begun', () => {
          response.destroy();
        });
      } else sendJson(response, "done");
    };
    expect((await clientOf().request({})).text).toBe('"done"');
    answer = (response) => response.destroy();
    const cut = clientOf({ retries: 0 }).request({});
    await expect(cut).rejects.toThrow(errorWith("HTTP_UNREACHABLE", "no connection"));
  });

  it("names a server that is not there", async () => {
    const gone = await localServer(() => undefined);
    await gone.close();
    expect(await messageOf(clientOf({ retries: 1 }, gone.url).request({ path: "/x" }))).toBe(
      "probe (http://HOST/x): no connection, or the connection was cut: connect ECONNREFUSED HOST (2 attempts in 0.3 s). Start the server, or correct its address.",
    );
  });

  it("refuses a reply above its size without reading on", async () => {
    answer = (response) => response.end("x".repeat(2000));
    expect(await messageOf(clientOf({ maxReplyBytes: 1000 }).request({}))).toBe(
      "probe (http://HOST/): the reply is larger than 1000 bytes (1 attempt in 0.0 s). Ask for less, or raise maxReplyBytes.",
    );
    const asking = clientOf({ maxReplyBytes: 1000 }).request({});
    await expect(asking).rejects.toThrow(errorWith("HTTP_BAD_REPLY"));
  });

  it("quotes the beginning of a reply that is not JSON, or not of the shape", async () => {
    const schema = z.object({ result: z.array(z.number()) });
    answer = (response) => response.end(`<x>\n${"y".repeat(300)}`);
    const asking = clientOf().json({}, schema);
    await expect(asking).rejects.toThrow(errorWith("HTTP_BAD_REPLY", `"<x> ${"y".repeat(196)}…"`));
    answer = (response) => {
      sendJson(response, { result: ["a"] });
    };
    expect(await messageOf(clientOf().json({}, schema))).toBe(
      `probe (http://HOST/): in the reply, $.result.0 is "a": expected a number. Found: "{\\"result\\":[\\"a\\"]}". Check that the address belongs to the right server.`,
    );
  });

  it("does not follow a redirect, which would carry keys to another host", async () => {
    answer = (response) =>
      response.writeHead(302, { location: "http://elsewhere.example/v1?token=abc" }).end();
    expect(await messageOf(clientOf().request({}))).toBe(
      'probe (http://HOST/): status 302, saying nothing (1 attempt in 0.0 s). The server redirects to "http://elsewhere.example/v1", and keys are not sent to another address; if the new address is right, set it.',
    );
    expect(server.received).toHaveLength(1);
  });

  it("puts no key into a message, not even one that the server repeats or that is cut in half", async () => {
    const padding = "z".repeat(190);
    const echoes = [`bad key ${KEY}`, `${padding}${KEY}`, `${encodeURIComponent(KEY)}&`];
    for (const echo of echoes) {
      answer = (response) => response.writeHead(401).end(echo);
      const message = await messageOf(clientOf().request({ parameters: { key: KEY } }));
      expect(message).not.toMatch(/sk-|secret|value/);
      expect(message).toContain("PROBE_KEY");
      answer = (response) => response.end(echo);
      const notJson = await messageOf(clientOf().json({ parameters: { key: KEY } }, z.object({})));
      expect(notJson).not.toMatch(/sk-|secret|value/);
    }
  });

  it("stops when the caller does, with the caller's reason: asking, waiting for its turn, between attempts", async () => {
    answer = () => undefined;
    const client = clientOf({ concurrency: 1 });
    const abort = new AbortController();
    const asking = client.request({ signal: abort.signal });
    const queued = client.request({ signal: abort.signal });
    setTimeout(() => {
      abort.abort(new Error("stop"));
    }, 20);
    await expect(asking).rejects.toThrow("stop");
    await expect(queued).rejects.toThrow("stop");
    answer = (response) => response.writeHead(500).end();
    const between = httpClient(
      { name: "probe", url: server.url, settings: z.object(httpShape).parse({}) },
      { ...environment, sleep: () => Promise.reject(new Error("stop")) },
    ).request({});
    await expect(between).rejects.toThrow("stop");
  });

  it("keeps to its concurrency", async () => {
    let open = 0;
    let most = 0;
    answer = (response) => {
      most = Math.max(most, ++open);
      setTimeout(() => {
        open -= 1;
        sendJson(response, 0);
      }, 5);
    };
    const client = clientOf({ concurrency: 3 });
    await Promise.all(Array.from({ length: 12 }, () => client.request({})));
    expect(most).toBe(3);
  });

  it("takes a failure that hides in a reply of status 200", async () => {
    answer = (response, count) => {
      sendJson(response, { error: count === 1 });
    };
    const failureIn = ({ text }: { text: string }) =>
      text.includes("true") ? { status: 503, body: "rejected" } : null;
    expect((await clientOf().request({ failureIn })).text).toBe('{"error":false}');
    expect(server.received).toHaveLength(2);
  });

  it("holds every request back while the server asks one to wait, and lets them come back spread", async () => {
    answer = (response, count) => {
      if (count === 1) response.writeHead(429, { "retry-after": "5" }).end();
      else sendJson(response, count);
    };
    const sleeping: { ms: number; wake: () => void }[] = [];
    const sleep = (ms: number): Promise<void> =>
      new Promise((wake) => {
        sleeping.push({ ms, wake });
      });
    const settings = z.object(httpShape).parse({ retryDelayMs: 100 });
    const client = httpClient(
      { name: "probe", url: server.url, settings },
      { ...environment, sleep },
    );
    const first = client.request({});
    await vi.waitFor(() => {
      expect(sleeping).toHaveLength(1);
    });
    clock += 2000;
    const others = [client.request({}), client.request({})];
    await vi.waitFor(() => {
      expect(sleeping).toHaveLength(3);
    });
    // The first: 5 s and half of its 100 ms; those that come after two seconds: the other three, and half of 100 ms.
    expect(sleeping.map(({ ms }) => ms)).toEqual([5050, 3050, 3050]);
    expect(server.received).toHaveLength(1);
    clock += 3050;
    for (const { wake } of sleeping) wake();
    await Promise.all([first, ...others]);
    expect(server.received).toHaveLength(4);
  });

  it("spreads its requests where it may send so many a minute, retries among them", async () => {
    const sent: number[] = [];
    answer = (response, count) => {
      sent.push(clock);
      if (count === 2) response.writeHead(500).end();
      else sendJson(response, count);
    };
    const start = clock;
    const client = clientOf({ requestsPerMinute: 120, retryDelayMs: 0, concurrency: 1 });
    await Promise.all([1, 2, 3].map(() => client.request({})));
    expect(sent.map((at) => at - start)).toEqual([0, 500, 1000, 1500]);
  });

  it("sends again at once what went over a connection that the server had closed, and counts no retry", async () => {
    answer = (response) => {
      sendJson(response, "done");
      response.on("finish", () => response.socket?.destroy());
    };
    const client = clientOf();
    for (let i = 0; i < 20; i++) expect((await client.request({})).text).toBe('"done"');
    expect(waits).toEqual([]);
  });

  it.each(["gzip", "deflate", "br"])(
    "reads a reply in %s, and counts its bytes unpacked",
    async (encoding) => {
      const packed = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync }[encoding]!;
      answer = (response) =>
        response
          .writeHead(200, { "content-encoding": encoding })
          .end(packed(JSON.stringify("é".repeat(2000))));
      expect((await clientOf().request({})).text).toBe(JSON.stringify("é".repeat(2000)));
      const asking = clientOf({ maxReplyBytes: 3000 }).request({});
      await expect(asking).rejects.toThrow(errorWith("HTTP_BAD_REPLY", "larger than 3000 bytes"));
      answer = (response) =>
        response.writeHead(200, { "content-encoding": encoding }).end("no such");
      await expect(clientOf({ retries: 0 }).request({})).rejects.toThrow(errorWith("HTTP_CUT"));
    },
  );

  it("sends no more than once again where the server cuts every connection that was kept", async () => {
    const asked = new Map<Socket, number>();
    const bodies = new Map<string, number>();
    const cutting = createServer((request, response) => {
      const { socket } = request;
      asked.set(socket, (asked.get(socket) ?? 0) + 1);
      const path = request.url ?? "";
      bodies.set(path, (bodies.get(path) ?? 0) + 1);
      if (asked.get(socket) === 1) sendJson(response, {});
      else socket.destroy();
    });
    await new Promise<void>((resolve) => cutting.listen(0, "127.0.0.1", resolve));
    const { port } = cutting.address() as AddressInfo;
    const client = clientOf({ retries: 0, concurrency: 8 }, `http://127.0.0.1:${port}`);
    const paths = Array.from({ length: 64 }, (_, i) => `/${i}`);
    const replies = await Promise.all(paths.map((path) => client.request({ path })));
    expect(replies.map(({ status }) => status)).toEqual(paths.map(() => 200));
    expect(Math.max(...bodies.values())).toBe(2);
    cutting.closeAllConnections();
    cutting.close();
  });
});

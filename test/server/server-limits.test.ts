import { connect, type Socket } from "node:net";
import { describe, expect, it } from "vitest";
import { serveForTest, type TestServer } from "../helpers/serve.ts";
import { waitingRetriever } from "../helpers/waiting-retriever.ts";

/** Waits until the server says so of itself. */
async function until(
  server: TestServer,
  holds: (stats: ReturnType<TestServer["stats"]>) => boolean,
) {
  while (!holds(server.stats())) await new Promise((resolve) => setTimeout(resolve, 2));
}

/** A connection that says what it is told, and all that comes back until it is closed. */
async function rawConnection(url: string): Promise<{ socket: Socket; closed: Promise<string> }> {
  const socket = connect(Number(new URL(url).port), "127.0.0.1");
  await new Promise((resolve) => socket.once("connect", resolve));
  let text = "";
  socket.on("data", (piece) => (text += piece.toString()));
  const closed = new Promise<string>((resolve) => {
    socket.on("close", () => {
      resolve(text);
    });
  });
  socket.on("error", () => undefined);
  return { socket, closed };
}

const query = { queries: ["x"] };

describe("a full server", () => {
  it("answers 429 with Retry-After beyond its queue, and serves again once there is room", async () => {
    const waiting = waitingRetriever();
    const server = await serveForTest(waiting, { concurrency: 1, maxQueue: 1 });
    const first = server.retrieve(query);
    const search = await waiting.next();
    const second = server.retrieve(query);
    await until(server, ({ queued }) => queued === 1);
    const third = await server.retrieve(query);
    expect([third.status, third.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(third.headers.get("x-index-fingerprint")).toBe("waiting-1");
    expect(server.stats()).toMatchObject({ inFlight: 1, queued: 1, rejected: 1 });
    expect((await server.get("/health")).status).toBe(200);
    search.answer();
    expect((await first).status).toBe(200);
    (await waiting.next()).answer();
    expect((await second).status).toBe(200);
    const fourth = server.retrieve(query);
    (await waiting.next()).answer();
    expect((await fourth).status).toBe(200);
    expect(server.stats()).toMatchObject({ requests: 4, errors: 0 });
  });

  it("turns a flood away and never holds more than it may", async () => {
    const waiting = waitingRetriever();
    const server = await serveForTest(waiting, { concurrency: 2, maxQueue: 3 });
    const replies = Array.from({ length: 60 }, () => server.retrieve(query));
    await until(server, ({ rejected }) => rejected === 55);
    expect(server.stats()).toMatchObject({ inFlight: 2, queued: 3 });
    expect(waiting.searches).toHaveLength(2);
    for (let i = 0; i < 5; i++) (await waiting.next()).answer();
    const statuses = (await Promise.all(replies)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(statuses.filter((status) => status === 429)).toHaveLength(55);
  });

  it("bounds the bytes that it holds: 429 when others hold them, 413 when one alone would", async () => {
    const waiting = waitingRetriever();
    const server = await serveForTest(waiting, { memoryLimit: 1000 });
    const large = { queries: ["x".repeat(600)] };
    const first = server.retrieve(large);
    const search = await waiting.next();
    const second = await server.retrieve(large);
    expect([second.status, second.headers.get("retry-after")]).toEqual([429, "1"]);
    // Its body has room; its reply, with the query's 600 characters twice, has none.
    search.answer();
    expect((await first).status).toBe(413);
    expect(await (await first).json()).toEqual({
      detail:
        "Request and reply would exceed 1000 bytes. Send fewer queries or use a smaller topk.",
    });
    await until(server, ({ queued }) => queued === 0);
    const third = server.retrieve(query);
    (await waiting.next()).answer();
    expect((await third).status).toBe(200);
  });
});

describe("a large reply", () => {
  it("arrives whole, with its length", async () => {
    const text = "é".repeat(1000);
    const server = await serveForTest({
      name: "long",
      fingerprint: "long-1",
      close: () => Promise.resolve(),
      search: (queries) =>
        Promise.resolve(queries.map((id) => [{ id, title: "T", text, score: 0.5 }])),
    });
    const queries = Array.from({ length: 500 }, (_, i) => String(i));
    const reply = await server.retrieve({ queries });
    const body = await reply.text();
    expect(Number(reply.headers.get("content-length"))).toBe(Buffer.byteLength(body));
    const { result } = JSON.parse(body) as { result: object[][] };
    const expected = queries.map((id) => [{ id, contents: `"T"\n${text}`, title: "T", text }]);
    expect(result).toEqual(expected);
    expect(server.stats()).toMatchObject({ queries: 500, queued: 0 });
  });

  it("is given up when its client does not read it", async () => {
    const text = "x".repeat(1_000_000);
    const server = await serveForTest(
      {
        name: "long",
        fingerprint: "long-1",
        close: () => Promise.resolve(),
        search: (queries) =>
          Promise.resolve(queries.map((id) => [{ id, title: "", text, score: 0.5 }])),
      },
      { timeoutMs: 1000 },
    );
    const { socket } = await rawConnection(server.url);
    socket.pause();
    const body = JSON.stringify({ queries: Array.from({ length: 10 }, () => "x") });
    socket.write(
      `POST /retrieve HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    );
    await until(server, ({ queued }) => queued === 1);
    await until(server, ({ requests }) => requests === 1);
    expect(server.stats()).toMatchObject({ aborted: 1, queries: 10, queued: 0 });
    socket.destroy();
  });
});

describe("a deadline", () => {
  it("answers 504 and stops the search, even of a retriever that does not listen", async () => {
    const waiting = waitingRetriever({ deaf: true });
    const server = await serveForTest(waiting, { timeoutMs: 50, concurrency: 1 });
    const [searched, queued] = await Promise.all([server.retrieve(query), server.retrieve(query)]);
    expect([searched.status, queued.status]).toEqual([504, 504]);
    expect(await searched.json()).toEqual({ detail: "No answer within 50 ms." });
    expect(waiting.searches[0]!.signal?.aborted).toBe(true);
    expect(server.stats()).toMatchObject({ errors: 2, inFlight: 0, queued: 0 });
  });

  it("does not wait for ever for a body", async () => {
    const server = await serveForTest(waitingRetriever(), { timeoutMs: 50 });
    const { socket, closed } = await rawConnection(server.url);
    socket.write("POST /retrieve HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{");
    expect(await closed).toMatch(/^HTTP\/1\.1 504 /);
    expect(server.stats()).toMatchObject({ queued: 0, errors: 1 });
  });
});

describe("a client that goes away", () => {
  it("cancels its search", async () => {
    const waiting = waitingRetriever();
    const server = await serveForTest(waiting);
    const abort = new AbortController();
    const reply = server.retrieve(query, { signal: abort.signal });
    const search = await waiting.next();
    abort.abort();
    await expect(reply).rejects.toThrow("abort");
    await until(server, ({ aborted }) => aborted === 1);
    expect(search.signal?.aborted).toBe(true);
    expect(server.stats()).toMatchObject({ requests: 1, errors: 0, inFlight: 0, queued: 0 });
  });
});

describe("the end", () => {
  it("finishes what was taken in, and answers 503 to everything new", async () => {
    const waiting = waitingRetriever();
    const server = await serveForTest(waiting, { concurrency: 1 });
    const first = server.retrieve(query);
    const search = await waiting.next();
    const second = server.retrieve(query);
    await until(server, ({ queued }) => queued === 1);
    const ended = server.drain();
    const health = await server.get("/health");
    expect([health.status, await health.json()]).toMatchObject([503, { status: "draining" }]);
    const late = await server.retrieve(query);
    expect([late.status, late.headers.get("retry-after")]).toEqual([503, "1"]);
    search.answer();
    (await waiting.next()).answer();
    expect([(await first).status, (await second).status]).toEqual([200, 200]);
    await ended;
    await expect(server.get("/health")).rejects.toThrow("fetch failed");
    expect(server.stats()).toMatchObject({ requests: 3, errors: 0, rejected: 1 });
  });

  it("gives up at the deadline what does not finish", async () => {
    const waiting = waitingRetriever({ deaf: true });
    const server = await serveForTest(waiting, { timeoutMs: 60 });
    const reply = server.retrieve(query);
    await waiting.next();
    await server.drain();
    expect((await reply).status).toBe(504);
  });
});

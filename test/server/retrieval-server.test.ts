import { describe, expect, it } from "vitest";
import { buildBm25 } from "../../src/retrieval/bm25/bm25.ts";
import type { Retriever } from "../../src/retrieval/retriever.ts";
import { startRetrievalServer } from "../../src/server/retrieval-server.ts";
import { errorWith } from "../helpers/error-with.ts";
import { serveForTest } from "../helpers/serve.ts";
import { waitingRetriever } from "../helpers/waiting-retriever.ts";

const retriever = buildBm25([
  { id: "a", title: "Oslo", text: "Oslo is the capital of Norway." },
  { id: "b", title: "", text: "A city in Norway\nwith much rain." },
  { id: "c", title: "Lima", text: "The capital of Peru." },
]);
const { fingerprint } = retriever;

/** Gives the same hits to every query. */
const fixed = (score: number): Retriever => ({
  name: "fixed",
  fingerprint: "fixed-1",
  search: (queries) =>
    Promise.resolve(queries.map(() => [{ id: "1", title: "T", text: "x", score }])),
  close: () => Promise.resolve(),
});

/** What Search-R1's training loop does with a reply, and those of its many descendants. */
async function searchR1Client(url: string, queries: string[], topk: number): Promise<string[]> {
  const payload = { queries, topk, return_scores: true };
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(payload),
  });
  const { result } = (await response.json()) as {
    result: { document: { contents: string }; score: number }[][];
  };
  return result.map((hits) =>
    hits
      .map(({ document: { contents } }, i) => {
        const [title, ...text] = contents.split("\n");
        return `Doc ${i + 1}(Title: ${title!}) ${text.join("\n")}\n`;
      })
      .join(""),
  );
}

describe("POST /retrieve", () => {
  it("serves Search-R1's client as it is: line 1 of contents is the title, the rest the text", async () => {
    const { url } = await serveForTest(retriever);
    const queries = ["Norway", "rain", "unheard"];
    expect(await searchR1Client(`${url}/retrieve`, queries, 2)).toEqual([
      'Doc 1(Title: "Oslo") Oslo is the capital of Norway.\nDoc 2(Title: "") A city in Norway\nwith much rain.\n',
      'Doc 1(Title: "") A city in Norway\nwith much rain.\n',
      "",
    ]);
  });

  it("gives documents with scores, or bare ones, in the bytes that Python would write", async () => {
    const { retrieve } = await serveForTest(fixed(2));
    const scored = await retrieve({ queries: ["x", "y"], return_scores: true });
    expect(await scored.text()).toBe(
      String.raw`{"result":[[{"document":{"id":"1","contents":"\"T\"\nx","title":"T","text":"x"},"score":2.0}],[{"document":{"id":"1","contents":"\"T\"\nx","title":"T","text":"x"},"score":2.0}]]}`,
    );
    expect(scored.headers.get("content-type")).toBe("application/json");
    const bare = await retrieve({ queries: ["x"] });
    expect(await bare.text()).toBe(
      String.raw`{"result":[[{"id":"1","contents":"\"T\"\nx","title":"T","text":"x"}]]}`,
    );
    expect(await (await retrieve({ queries: [] })).text()).toBe('{"result":[]}');
  });

  it("takes topk absent, null and 0 for 3, and ignores keys that it does not know", async () => {
    const waiting = waitingRetriever();
    const { retrieve } = await serveForTest(waiting);
    for (const body of [{}, { topk: null }, { topk: 0, eid: "7" }, { topk: 7 }]) {
      const reply = retrieve({ queries: ["x"], ...body });
      (await waiting.next()).answer();
      expect((await reply).status).toBe(200);
    }
    expect(waiting.searches.map(({ k }) => k)).toEqual([3, 3, 3, 7]);
  });

  it("answers wrong bodies with 422 in FastAPI's shape", async () => {
    const { retrieve, stats } = await serveForTest(retriever);
    const reply = await retrieve({ queries: ["x", 3], topk: "many" });
    expect(reply.status).toBe(422);
    expect(await reply.json()).toEqual({
      detail: [
        { type: "string_type", loc: ["body", "queries", 1], msg: "Input should be a valid string" },
        {
          type: "int_parsing",
          loc: ["body", "topk"],
          msg: "Input should be a valid integer, unable to parse string as an integer",
        },
      ],
    });
    expect(stats().invalid).toBe(1);
  });

  it("answers a failed search with 500, tells its own errors and keeps others to itself", async () => {
    const waiting = waitingRetriever();
    const seen: unknown[] = [];
    const { retrieve, stats } = await serveForTest(
      waiting,
      {},
      { onError: (error) => seen.push(error) },
    );
    const reply = retrieve({ queries: ["x"] });
    (await waiting.next()).fail(new Error("secret"));
    expect((await reply).status).toBe(500);
    expect(await (await reply).json()).toEqual({ detail: "Internal Server Error" });
    expect(seen).toEqual([new Error("secret")]);
    expect(stats().errors).toBe(1);
  });

  it("answers other methods and paths as FastAPI does", async () => {
    const { get } = await serveForTest(retriever);
    const wrongMethod = await get("/retrieve");
    expect([wrongMethod.status, wrongMethod.headers.get("allow")]).toEqual([405, "POST"]);
    const absent = await get("/search");
    expect([absent.status, await absent.json()]).toEqual([404, { detail: "Not Found" }]);
    expect(absent.headers.get("x-index-fingerprint")).toBe(fingerprint);
  });

  it("refuses a body over the limit with 413 and goes on", async () => {
    const { retrieve, stats } = await serveForTest(retriever, { bodyLimit: 1000 });
    const reply = await retrieve({ queries: ["x".repeat(1000)] });
    expect(reply.status).toBe(413);
    expect(await reply.json()).toEqual({ detail: "Request body is too large" });
    expect(reply.headers.get("x-index-fingerprint")).toBe(fingerprint);
    expect((await retrieve({ queries: ["rain"] })).status).toBe(200);
    expect(stats()).toMatchObject({ requests: 2, invalid: 1, queued: 0 });
  });
});

describe("GET /health and /stats", () => {
  it("says what is served", async () => {
    const { get } = await serveForTest(retriever, {}, { passages: 3 });
    const health = await get("/health");
    expect(health.headers.get("x-index-fingerprint")).toBe(fingerprint);
    expect([health.status, await health.json()]).toEqual([
      200,
      { status: "ok", name: "bm25", version: "1.2.3", fingerprint, passages: 3 },
    ]);
  });

  it("counts", async () => {
    const { get, retrieve } = await serveForTest(retriever);
    expect(await (await get("/stats")).json()).toMatchObject({ requests: 0, latencyMs: null });
    await retrieve({ queries: ["rain", "Oslo"] });
    const stats = (await (await get("/stats")).json()) as Record<string, unknown>;
    expect(Object.keys(stats)).toEqual(
      "requests queries errors rejected invalid aborted latencyMs uptimeSeconds rssBytes inFlight queued".split(
        " ",
      ),
    );
    expect(stats).toMatchObject({ requests: 1, queries: 2, errors: 0, inFlight: 0, queued: 0 });
    expect(stats["latencyMs"]).toEqual({
      p50: expect.any(Number) as number,
      p90: expect.any(Number) as number,
      p99: expect.any(Number) as number,
    });
  });
});

describe("who may ask", () => {
  it("wants the token everywhere but at /health", async () => {
    const { get, retrieve, stats } = await serveForTest(retriever, { token: "s3cret" });
    const body = JSON.stringify({ queries: ["rain"] });
    const ask = (authorization: string) =>
      retrieve(body, { headers: { authorization, "content-type": "application/json" } });
    const without = await retrieve(body);
    expect([without.status, await without.json()]).toEqual([401, { detail: "Not authenticated" }]);
    expect(without.headers.get("www-authenticate")).toBe("Bearer");
    expect((await ask("Bearer s3cre")).status).toBe(401);
    expect((await ask("Basic s3cret")).status).toBe(401);
    expect((await get("/stats")).status).toBe(401);
    expect((await get("/health")).status).toBe(200);
    expect((await ask("Bearer s3cret")).status).toBe(200);
    expect(stats()).toMatchObject({ requests: 4, invalid: 3 });
  });

  it("refuses to be reachable from other machines without a token", async () => {
    const start = (host: string) =>
      startRetrievalServer(retriever, { host, port: 0 }, { version: "1" });
    for (const host of ["0.0.0.0", "::", "192.168.1.2", "127.0.0.1.example.org"]) {
      await expect(start(host)).rejects.toThrow(errorWith("SERVER_UNPROTECTED", host));
    }
    const { url } = await serveForTest(retriever, { host: "0.0.0.0", token: "t" });
    expect(url).toMatch(/^http:\/\/0\.0\.0\.0:\d+$/);
  });

  it("says that a port is taken", async () => {
    const { url } = await serveForTest(retriever);
    const port = Number(new URL(url).port);
    await expect(startRetrievalServer(retriever, { port }, { version: "1" })).rejects.toThrow(
      errorWith("SERVER_ADDRESS", `cannot listen on 127.0.0.1, port ${port}`),
    );
  });

  it("does not serve what must know who asks", async () => {
    const oracle: Retriever = { ...fixed(1), name: "oracle", reads: ["supporting-passages"] };
    await expect(startRetrievalServer(oracle, { port: 0 }, { version: "1" })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "oracle reads the task's supporting-passages"),
    );
  });
});

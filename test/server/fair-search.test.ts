import { describe, expect, it } from "vitest";
import type { Hit, Retriever } from "../../src/retrieval/retriever.ts";
import { fairSearch } from "../../src/server/fair-search.ts";
import { waitingRetriever } from "../helpers/waiting-retriever.ts";

/** Keeps the thread busy for a while per query, as BM25 does. */
function busyRetriever(ms: number): {
  retriever: Retriever;
  sizes: number[];
  slices: (readonly string[])[];
} {
  const sizes: number[] = [];
  const slices: (readonly string[])[] = [];
  const retriever: Retriever = {
    name: "busy",
    fingerprint: "busy-1",
    search: (queries) => {
      sizes.push(queries.length);
      slices.push(queries);
      const end = performance.now() + ms * queries.length;
      while (performance.now() < end);
      return Promise.resolve(queries.map((text) => [{ id: text, title: "", text, score: 1 }]));
    },
    close: () => Promise.resolve(),
  };
  return { retriever, sizes, slices };
}

const numbers = (count: number): string[] => Array.from({ length: count }, (_, i) => String(i));
const never = new AbortController().signal;
const idsOf = (hits: readonly Hit[][]): string[] => hits.flat().map(({ id }) => id);

describe("fair search", () => {
  it("gives every query its hits, in order", async () => {
    const { retriever } = busyRetriever(0);
    const found: string[] = [];
    const queries = numbers(300);
    const onHits = (hits: readonly Hit[][]) => found.push(...idsOf(hits));
    await fairSearch(retriever, 2).search({ queries, k: 3, signal: never, onHits });
    expect(found).toEqual(queries);
  });

  it("searches long queries one by one: costs are learned from short ones", async () => {
    const { retriever, sizes } = busyRetriever(0);
    const fair = fairSearch(retriever, 2);
    const ask = (queries: string[]) =>
      fair.search({ queries, k: 3, signal: never, onHits: () => undefined });
    await ask(numbers(200));
    // How many go together depends on the machine's speed.
    expect(Math.max(...sizes)).toBeGreaterThan(1);
    sizes.length = 0;
    await ask(Array.from({ length: 10 }, () => "x".repeat(5000)));
    expect(sizes).toEqual(Array.from({ length: 10 }, () => 1));
  });

  it("lets one query pass a large request", async () => {
    const { retriever, slices } = busyRetriever(0.5);
    const fair = fairSearch(retriever, 8);
    const ended: string[] = [];
    const ask = async (name: string, queries: string[]) => {
      await fair.search({ queries, k: 3, signal: never, onHits: () => undefined });
      ended.push(name);
    };
    const large = ask("large", numbers(400));
    // The large one is under way, and its cost is known.
    while (slices.length < 3) await new Promise((resolve) => setImmediate(resolve));
    const before = slices.length;
    await ask("small", ["x"]);
    expect(ended).toEqual(["small"]);
    // At most the slice that the large request was next with comes first.
    const own = slices.findIndex((queries) => queries[0] === "x");
    expect(own - before).toBeLessThanOrEqual(1);
    await large;
  });

  it("sizes slices by what they cost this thread", async () => {
    const slow = busyRetriever(3);
    await fairSearch(slow.retriever, 1).search({
      queries: numbers(6),
      k: 3,
      signal: never,
      onHits: () => undefined,
    });
    expect(slow.sizes).toEqual([1, 1, 1, 1, 1, 1]);
    const fast = busyRetriever(0);
    await fairSearch(fast.retriever, 1).search({
      queries: numbers(2000),
      k: 3,
      signal: never,
      onHits: () => undefined,
    });
    expect(Math.max(...fast.sizes)).toBeGreaterThan(10);
    expect(Math.max(...fast.sizes)).toBeLessThanOrEqual(64);
  });

  it("keeps the event loop turning", async () => {
    const { retriever } = busyRetriever(1);
    const fair = fairSearch(retriever, 8);
    let turns = 0;
    let going = true;
    const count = (): void => {
      turns += 1;
      if (going) setImmediate(count);
    };
    setImmediate(count);
    const requests = Array.from({ length: 5 }, () =>
      fair.search({ queries: numbers(20), k: 3, signal: never, onHits: () => undefined }),
    );
    await Promise.all(requests);
    going = false;
    // 100 ms of work, some 4 ms a turn.
    expect(turns).toBeGreaterThan(15);
  });

  it("runs as many slices at once as it may, each of another request", async () => {
    const waiting = waitingRetriever();
    const fair = fairSearch(waiting, 2);
    const ask = (query: string) =>
      fair.search({ queries: [query], k: 1, signal: never, onHits: () => undefined });
    const requests = ["a", "b", "c"].map(ask);
    const first = await waiting.next();
    await waiting.next();
    expect([fair.running, waiting.searches.length]).toEqual([2, 2]);
    first.answer();
    const third = await waiting.next();
    expect(third.queries).toEqual(["c"]);
    for (const search of waiting.searches) search.answer();
    await Promise.all(requests);
    expect(fair.running).toBe(0);
  });

  it("forgets an aborted request, in the line or under way, and goes on", async () => {
    const waiting = waitingRetriever({ deaf: true });
    const fair = fairSearch(waiting, 1);
    const abort = new AbortController();
    const ask = (query: string, signal: AbortSignal) =>
      fair.search({ queries: [query], k: 1, signal, onHits: () => undefined });
    const running = ask("a", abort.signal);
    const inLine = ask("b", abort.signal);
    const after = ask("c", never);
    await waiting.next();
    abort.abort(new Error("enough"));
    await expect(running).rejects.toThrow("enough");
    await expect(inLine).rejects.toThrow("enough");
    await expect(ask("d", abort.signal)).rejects.toThrow("enough");
    (await waiting.next()).answer();
    await after;
    expect(waiting.searches.map(({ queries }) => queries[0])).toEqual(["a", "c"]);
  });

  it("ends a request whose search or whose hits fail, and goes on", async () => {
    const waiting = waitingRetriever();
    const fair = fairSearch(waiting, 1);
    const first = fair.search({ queries: ["a"], k: 1, signal: never, onHits: () => undefined });
    (await waiting.next()).fail(new Error("broken"));
    await expect(first).rejects.toThrow("broken");
    const onHits = (): never => {
      throw new Error("no room");
    };
    const second = fair.search({ queries: ["a"], k: 1, signal: never, onHits });
    (await waiting.next()).answer();
    await expect(second).rejects.toThrow("no room");
    expect(fair.running).toBe(0);
  });
});

import { describe, expect, it } from "vitest";
import { retrievers } from "../../../src/retrieval/index.ts";
import type { Hit } from "../../../src/retrieval/retriever.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { contextOf, listed, passagesOf, shown } from "../../helpers/listed-retriever.ts";
import { task } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const part = retrievers.get("noisy", "test");
const ranked = "abcdefghij".split("");
const corpus = passagesOf(...ranked, "x", "y", "z");
const open = (options: object, inner = listed(ranked)) =>
  part.open({ of: "none", ...options }, contextOf([inner], corpus));
const queries = Array.from({ length: 1000 }, (_, i) => `query ${i}`);
const noiseIn = (hits: readonly Hit[]) => hits.map(({ id }, i) => id !== ranked[i]);

describe("noisy", () => {
  it("keeps everything at rate 0 and nothing at rate 1", async () => {
    const none = await open({ rate: 0 });
    expect(shown((await none.search(["rain"], 3))[0])).toEqual(["a 10", "b 9", "c 8"]);
    for (const from of ["ranks", "corpus"]) {
      const all = await open({ rate: 1, from });
      for (const hits of await all.search(queries.slice(0, 50), 3)) {
        expect(hits.map(({ score }) => score)).toEqual([10, 9, 8]);
        for (const { id } of hits) expect(["a", "b", "c"]).not.toContain(id);
      }
    }
  });

  it("replaces hits in their places, each on its own, at the rate", async () => {
    const found = await (await open({ rate: 0.3 })).search(queries, 4);
    const noise = found.map(noiseIn);
    for (let rank = 0; rank < 4; rank++) {
      const share = noise.filter((reply) => reply[rank]).length / 1000;
      // The deviation is .0145.
      expect(Math.abs(share - 0.3)).toBeLessThan(0.06);
    }
    const whole = noise.filter((reply) => new Set(reply).size === 1).length / 1000;
    // All or none of four: .3⁴ + .7⁴ = .248.
    expect(Math.abs(whole - 0.248)).toBeLessThan(0.06);
  });

  it("replaces whole replies per reply", async () => {
    const found = await (await open({ rate: 0.3, per: "reply" })).search(queries, 4);
    const noise = found.map((hits) => new Set(noiseIn(hits)));
    expect(noise.every(({ size }) => size === 1)).toBe(true);
    const share = noise.filter((reply) => reply.has(true)).length / 1000;
    expect(Math.abs(share - 0.3)).toBeLessThan(0.06);
  });

  it("takes distractors from the window of lower ranks, or from the corpus, each once", async () => {
    const inner = listed(ranked);
    const near = await open({ rate: 1, window: 4 }, inner);
    for (const hits of await near.search(queries.slice(0, 50), 3)) {
      for (const { id } of hits) expect(["d", "e", "f", "g"]).toContain(id);
    }
    expect(inner.asked[0]!.k).toBe(7);
    const far = await open({ rate: 0.5, from: "corpus" });
    const seen = new Set<string>();
    for (const hits of await far.search(queries, 3)) {
      expect(new Set(hits.map(({ id }) => id)).size).toBe(3);
      for (const { id } of hits) seen.add(id);
    }
    expect([...seen].sort()).toEqual(corpus.map(({ id }) => id));
  });

  it("drops hits where distractors run out", async () => {
    const short = await open({ rate: 1 }, listed(["a", "b", "c"]));
    expect(shown((await short.search(["rain"], 2))[0])).toEqual(["c 3"]);
    expect(await short.search(["rain"], 3)).toEqual([[]]);
  });

  it("draws by seed and query: the same again, and what is noisy stays so at higher rates", async () => {
    const [low, high] = await Promise.all([open({ rate: 0.3 }), open({ rate: 0.6 })]);
    const before = await low.search(queries, 3);
    expect(await low.search(queries.toReversed(), 3)).toEqual(before.toReversed());
    const after = (await high.search(queries, 3)).map(noiseIn);
    for (const [i, reply] of before.map(noiseIn).entries()) {
      reply.forEach((isNoisy, rank) => {
        if (isNoisy) expect(after[i]![rank]).toBe(true);
      });
    }
    expect(await (await open({ rate: 0.3, seed: 1 })).search(queries, 3)).not.toEqual(before);
  });

  it("draws anew for each call where told so: a second try may succeed", async () => {
    const retriever = await open({ rate: 0.3, draw: "call", per: "reply" });
    expect(retriever.reads).toEqual(["seed"]);
    const noisyAt = async (seed: number): Promise<boolean[]> => {
      const contexts = queries.map(() => ({ task, seed }));
      return (await retriever.search(queries, 1, { contexts })).map((hits) => noiseIn(hits)[0]!);
    };
    const [first, second] = [await noisyAt(1), await noisyAt(2)];
    expect(await noisyAt(1)).toEqual(first);
    const again = first.filter((isNoisy, i) => isNoisy && second[i] === true).length;
    const share = first.filter(Boolean).length / queries.length;
    expect(Math.abs(share - 0.3)).toBeLessThan(0.06);
    // Independent draws: .3 of those that were noisy at first are so again.
    expect(Math.abs(again / first.filter(Boolean).length - 0.3)).toBeLessThan(0.1);
  });

  it("follows a schedule by the asker's progress, and has its last value outside training", async () => {
    const rate = { schedule: "exponential", from: 0, to: 1 };
    const retriever = await open({ rate, per: "reply" });
    expect(retriever.reads).toEqual(["progress"]);
    const shareAt = async (step?: number): Promise<number> => {
      const progress = step === undefined ? {} : { progress: { step, totalSteps: 11 } };
      const contexts = queries.map(() => ({ task, ...progress }));
      const found = await retriever.search(queries, 1, { contexts });
      return found.filter((hits) => noiseIn(hits)[0]).length / 1000;
    };
    // ZeroSearch's curve: (4^½ − 1) / 3 = ⅓ half-way.
    expect(await shareAt(0)).toBe(0);
    expect(Math.abs((await shareAt(5)) - 1 / 3)).toBeLessThan(0.06);
    expect(await shareAt(10)).toBe(1);
    expect(await shareAt()).toBe(1);
    expect((await retriever.search(["rain"], 1)).map(shown)).not.toEqual([["a 10"]]);
  });

  it("has another fingerprint for every option, and closes what is inside", async () => {
    const all = await Promise.all(
      [
        { rate: 0.3 },
        { rate: 0.4 },
        { rate: { schedule: "linear", from: 0.3, to: 0.4 } },
        { rate: 0.3, per: "reply" },
        { rate: 0.3, draw: "call" },
        { rate: 0.3, from: "corpus" },
        { rate: 0.3, window: 5 },
        { rate: 0.3, seed: 1 },
      ].map((options) => open(options)),
    );
    expect(new Set(all.map(({ fingerprint }) => fingerprint)).size).toBe(8);
    const [written, absent] = await Promise.all([
      open({ rate: 0, window: 100 }),
      open({ rate: 0 }),
    ]);
    expect(written.fingerprint).toBe(absent.fingerprint);
    const inner = listed(ranked);
    await (await open({ rate: 0 }, inner)).close();
    expect(inner.closed).toBe(true);
  });

  it("refuses a window for distractors of the corpus", async () => {
    await expect(open({ rate: 0.5, from: "corpus", window: 3 })).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "noisy.window"),
    );
  });
});

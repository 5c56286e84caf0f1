import { describe, expect, it } from "vitest";
import { retrievers } from "../../../src/retrieval/index.ts";
import type { Retriever } from "../../../src/retrieval/retriever.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { contextOf, listed, shown } from "../../helpers/listed-retriever.ts";
import { task } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const part = retrievers.get("hybrid", "test");
const open = (
  options: object = {},
  inner: Retriever[] = [listed(["a", "b"]), listed(["b", "c"])],
) => part.open({ of: inner.map(() => "none"), ...options }, contextOf(inner));

describe("hybrid", () => {
  it("fuses by rank, or by score", async () => {
    const byRank = await open();
    expect(shown((await byRank.search(["rain"], 2))[0])).toEqual(["b 0.0325", "a 0.0164"]);
    const sharper = await open({ rrfK: 0, weights: [3, 1] });
    expect(shown((await sharper.search(["rain"], 5))[0])).toEqual(["a 3", "b 2.5", "c 0.5"]);
    // [a 2, b 1] and [b 2, c 1]: a 1, b 0 + 1, c 0 scaled; a 2, b 3, c 1 as they are.
    const scaled = await open({ fusion: "weighted" });
    expect(shown((await scaled.search(["rain"], 5))[0])).toEqual(["a 1", "b 1", "c 0"]);
    const raw = await open({ fusion: "weighted", normalize: "none" });
    expect(shown((await raw.search(["rain"], 5))[0])).toEqual(["b 3", "a 2", "c 1"]);
  });

  it("asks each for 100 hits, for k where that is more, or for `depth`, with the asker", async () => {
    const inner = [listed(["a"]), listed(["b"])];
    const contexts = [{ task }];
    await (await open({}, inner)).search(["rain"], 3, { contexts });
    await (await open({}, inner)).search(["rain"], 300);
    await (await open({ depth: 7 }, inner)).search(["rain"], 300);
    for (const { asked } of inner) {
      expect(asked.map(({ k }) => k)).toEqual([100, 300, 7]);
      expect(asked[0]!.options).toEqual({ contexts });
    }
  });

  it("asks all of them at once", async () => {
    let underWay = 0;
    let most = 0;
    const slow = (): Retriever =>
      listed([], {
        search: async (queries) => {
          most = Math.max(most, (underWay += 1));
          await new Promise(setImmediate);
          underWay -= 1;
          return queries.map(() => []);
        },
      });
    await (await open({}, [slow(), slow(), slow()])).search(["rain"], 1);
    expect(most).toBe(3);
  });

  it("has another fingerprint for every option and every retriever inside", async () => {
    const all = await Promise.all([
      open(),
      open({ rrfK: 61 }),
      open({ weights: [1, 2] }),
      open({ depth: 100 }),
      open({ fusion: "weighted" }),
      open({ fusion: "weighted", normalize: "z-score" }),
      open({}, [listed(["b", "c"]), listed(["a", "b"])]),
      open({}, [listed(["a", "b"]), listed(["b"])]),
    ]);
    expect(new Set(all.map(({ fingerprint }) => fingerprint)).size).toBe(8);
    const spelt = await open({ rrfK: 60, weights: [1, 1], fusion: "rrf" });
    expect(spelt.fingerprint).toBe(all[0].fingerprint);
  });

  it("looks at what those inside look at", async () => {
    const inner = [listed(["a"], { reads: ["progress"] }), listed([], { reads: ["references"] })];
    expect((await open({}, inner)).reads).toEqual(["progress", "references"]);
    expect(await open()).not.toHaveProperty("reads");
  });

  it("closes all of them, also when one fails to close or a later one does not open", async () => {
    const broken = listed([], { close: () => Promise.reject(new Error("broken")) });
    const sound = listed([]);
    await expect((await open({}, [broken, sound])).close()).rejects.toThrow("broken");
    expect(sound.closed).toBe(true);
    const first = listed([]);
    const opening = [() => Promise.resolve(first), () => Promise.reject(new Error("missing"))];
    const context = { open: () => opening.shift()!() };
    await expect(part.open({ of: ["none", "none"] }, context)).rejects.toThrow("missing");
    expect(first.closed).toBe(true);
  });

  it("refuses options that would do nothing", async () => {
    for (const [options, key] of [
      [{ fusion: "weighted", rrfK: 60 }, "rrfK"],
      [{ normalize: "min-max" }, "normalize"],
      [{ weights: [1] }, "weights"],
      [{ weights: [0, 0] }, "weights"],
      [{ of: ["none"] }, "of"],
    ] as const) {
      await expect(open(options)).rejects.toThrow(errorWith("RECIPE_BAD_VALUE", `hybrid.${key}`));
    }
  });
});

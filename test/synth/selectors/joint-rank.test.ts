import { describe, expect, it } from "vitest";
import { errorWith } from "../../helpers/error-with.ts";
import { sampleFacts, select } from "../../helpers/sample-facts.ts";

// Ranks by difficulty: a 1, b 2, c 3, d 4. By length: d 1, c 2, b 3, a 4.
const samples = [
  sampleFacts("a", { scores: { difficulty: 0.9, "pass-rate": 0 }, length: 10 }),
  sampleFacts("b", { scores: { difficulty: 0.8, "pass-rate": 0.5 }, length: 20 }),
  sampleFacts("c", { scores: { difficulty: 0.7, "pass-rate": 0.75 }, length: 30 }),
  sampleFacts("d", { scores: { difficulty: 0.1, "pass-rate": 1 }, length: 40 }),
];

describe("joint-rank", () => {
  it("keeps the longest with weight 0 and the hardest with weight 1", () => {
    expect(select("joint-rank", samples, { weight: 0, count: 1 }).kept).toEqual(["d"]);
    expect(select("joint-rank", samples, { weight: 1, count: 1 }).kept).toEqual(["a"]);
  });

  it("gives three quarters of the weight to the length where nothing is said", () => {
    // Joint ranks: a .25 + 3 = 3.25, b .5 + 2.25 = 2.75, c .75 + 1.5 = 2.25, d 1 + .75 = 1.75.
    expect(select("joint-rank", samples, { count: 2 })).toEqual({
      kept: ["c", "d"],
      dropped: ["a: ranked below", "b: ranked below"],
    });
    // A longer sample that is the easiest falls behind when the weights are turned around: a 1.75, b 2.25, c 2.75, d 3.25.
    expect(select("joint-rank", samples, { weight: 0.75, count: 2 }).kept).toEqual(["a", "b"]);
  });

  it("shares ranks among equal values", () => {
    // By length: x and y 1.5, z 3. By difficulty: z 1, x and y 2.5. With weight .5 x and y 2, z 2: only the seed decides.
    const tied = [
      sampleFacts("x", { scores: { difficulty: 0.2 }, length: 9 }),
      sampleFacts("y", { scores: { difficulty: 0.2 }, length: 9 }),
      sampleFacts("z", { scores: { difficulty: 0.6 }, length: 3 }),
    ];
    const winners = Array.from({ length: 40 }, (_, seed) =>
      select("joint-rank", tied, { weight: 0.5, count: 1 }, seed).kept.join(),
    );
    expect([...new Set(winners)].sort()).toEqual(["x", "y", "z"]);
    expect(select("joint-rank", tied, { weight: 0.5, count: 1 }, 7)).toEqual(
      select("joint-rank", tied, { weight: 0.5, count: 1 }, 7),
    );
  });

  it("takes an easiness for the difficulty, and another score for the length", () => {
    const settings = { weight: 1, easiness: "pass-rate", count: 1 };
    expect(select("joint-rank", samples, settings).kept).toEqual(["a"]);
    const searching = [sampleFacts("few"), sampleFacts("many", { searches: 3 })];
    const bySearches = { weight: 0, length: "searches", count: 1 };
    expect(select("joint-rank", searching, bySearches).kept).toEqual(["many"]);
  });

  it("keeps a tenth where nothing is said, at least one, in the order that they came in", () => {
    const many = Array.from({ length: 20 }, (_, i) =>
      sampleFacts(`${i}`, { scores: { difficulty: i / 20 }, length: 10 + i }),
    );
    expect(select("joint-rank", many).kept).toEqual(["18", "19"]);
    expect(select("joint-rank", samples).kept).toEqual(["d"]);
  });

  it("drops samples whose difficulty is not known, and says so where it is of none", () => {
    const some = [...samples, sampleFacts("unscored", { length: 999 })];
    expect(select("joint-rank", some, { count: 4 }).dropped).toEqual(["unscored: no difficulty"]);
    expect(() => select("joint-rank", [sampleFacts("bare")])).toThrow(
      errorWith("RECIPE_BAD_VALUE", /^synth\.selection: joint-rank uses "difficulty", which no/),
    );
  });

  it.each([{ count: 1, share: 0.5 }, { difficulty: "d", easiness: "e" }, { weight: 1.1 }])(
    "refuses %o",
    (options) => {
      expect(() => select("joint-rank", samples, options)).toThrow();
    },
  );
});

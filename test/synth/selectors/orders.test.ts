import { describe, expect, it } from "vitest";
import { sampleFacts, select } from "../../helpers/sample-facts.ts";

const samples = [0.5, 1, 0.25, 0.5].map((rate, i) =>
  sampleFacts(`${i}:${rate}`, { scores: { "pass-rate": rate, difficulty: 10 - i } }),
);

describe("orders of samples", () => {
  it("puts what is solved most often first, or last", () => {
    const [first, ...rest] = select("easy-to-hard", samples).kept;
    expect(first).toBe("1:1");
    expect(rest.at(-1)).toBe("2:0.25");
    const reversed = select("hard-to-easy", samples).kept;
    expect(reversed[0]).toBe("2:0.25");
    expect(reversed.at(-1)).toBe("1:1");
  });

  it("puts equal ones in an order that the seed draws", () => {
    const orders = Array.from({ length: 20 }, (_, seed) =>
      select("easy-to-hard", samples, {}, seed).kept.slice(1, 3).join(),
    );
    expect([...new Set(orders)].sort()).toEqual(["0:0.5,3:0.5", "3:0.5,0:0.5"]);
  });

  it("goes by a score that is high for what is hard", () => {
    const byDifficulty = { difficulty: "difficulty" };
    expect(select("easy-to-hard", samples, byDifficulty).kept).toEqual([
      ...["3:0.5", "2:0.25", "1:1", "0:0.5"],
    ]);
    expect(() => select("easy-to-hard", samples, { ...byDifficulty, easiness: "x" })).toThrow(
      "expected either difficulty or easiness",
    );
  });

  it("drops what is not known to be easy or hard", () => {
    const { kept, dropped } = select("hard-to-easy", [...samples, sampleFacts("unknown")]);
    expect(kept).toHaveLength(4);
    expect(dropped).toEqual(["unknown: no pass-rate"]);
  });

  it("shuffles all by the seed", () => {
    const orders = Array.from({ length: 200 }, (_, seed) =>
      select("shuffled", samples, {}, seed).kept.join(),
    );
    expect(new Set(orders).size).toBe(24);
    expect(select("shuffled", samples, {}, 5)).toEqual(select("shuffled", samples, {}, 5));
  });
});

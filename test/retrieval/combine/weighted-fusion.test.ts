import { describe, expect, it } from "vitest";
import { weightedFusion } from "../../../src/retrieval/combine/fusion.ts";
import type { Hit } from "../../../src/retrieval/retriever.ts";
import { shown } from "../../helpers/listed-retriever.ts";

const scored = (scores: Record<string, number>): Hit[] =>
  Object.entries(scores).map(([id, score]) => ({ id, title: "", text: "", score }));
const lists = [scored({ a: 10, b: 6, c: 2 }), scored({ b: 3, d: 1 })];

describe("weightedFusion", () => {
  it("adds scores scaled to the range of their list", () => {
    // First list: a 1, b .5, c 0; second: b 1, d 0. d stands higher in its list than c in its own.
    expect(shown(weightedFusion(lists))).toEqual(["b 1.5", "a 1", "d 0", "c 0"]);
    expect(shown(weightedFusion(lists, { weights: [1, 0.25] }))).toEqual([
      "a 1",
      "b 0.75",
      "d 0",
      "c 0",
    ]);
  });

  it("adds z-scores counted from the lowest of their list", () => {
    // Deviations: √((16 + 0 + 16) / 3) = 3.266 and 1. a 8 / 3.266, b 4 / 3.266 + 2 / 1.
    expect(shown(weightedFusion(lists, { normalize: "z-score" }))).toEqual([
      "b 3.2247",
      "a 2.4495",
      "d 0",
      "c 0",
    ]);
  });

  it("adds scores as they are", () => {
    expect(shown(weightedFusion(lists, { normalize: "none", weights: [1, 2] }))).toEqual([
      "b 12",
      "a 10",
      "d 2",
      "c 2",
    ]);
  });

  it("counts 1 for each of equal scores, a single hit included", () => {
    for (const normalize of ["min-max", "z-score"] as const) {
      const found = weightedFusion([scored({ a: 0.1, b: 0.1, c: 0.1 }), scored({ c: 7 }), []], {
        normalize,
      });
      expect(shown(found)).toEqual(["c 2", "a 1", "b 1"]);
    }
  });

  it("does not care about the unit or the zero of a list's scores", () => {
    const moved = [lists[0]!.map((hit) => ({ ...hit, score: hit.score * 8 + 16 })), lists[1]!];
    expect(shown(weightedFusion(moved))).toEqual(shown(weightedFusion(lists)));
    expect(shown(weightedFusion(moved, { normalize: "z-score" }))).toEqual(
      shown(weightedFusion(lists, { normalize: "z-score" })),
    );
  });
});

import { describe, expect, it } from "vitest";
import { parseRelation } from "../../../src/run/claims/relation.ts";

const fail = (sentence: string) => new Error(sentence);
const arm = (name: string, more: object = {}) => ({
  text: name,
  arm: name,
  metric: null,
  factor: 1,
  plus: 0,
  ...more,
});

describe("parseRelation", () => {
  it("splits a chain into neighbours", () => {
    expect(parseRelation("search > no-search >= 0.2", fail)).toEqual([
      { left: arm("search"), relation: ">", right: arm("no-search") },
      {
        left: arm("no-search"),
        relation: ">=",
        right: { text: "0.2", arm: null, metric: null, factor: 1, plus: 0.2 },
      },
    ]);
  });

  it("reads margins, factors and metrics", () => {
    const right = (text: string) => parseRelation(text, fail)[0]?.right;
    expect(right("a >= b - .02")).toEqual(arm("b", { text: "b - .02", plus: -0.02 }));
    expect(right("a > b+0.1")).toEqual(arm("b", { text: "b+0.1", plus: 0.1 }));
    expect(right("a <= .7 * b")).toEqual(arm("b", { text: ".7 * b", factor: 0.7 }));
    const path = "curve.rollout/reward_mean.stepsTo(.6)";
    expect(right(`a < 0.5*${path}(b-2) + 3`)).toEqual(
      arm("b-2", { text: `0.5*${path}(b-2) + 3`, metric: path, factor: 0.5, plus: 3 }),
    );
    expect(right("a > -0.5")).toMatchObject({ arm: null, plus: -0.5 });
  });

  it.each([
    ["a", 'is "a": expected arms or numbers joined by'],
    ["a > ", '"" is no side of a comparison'],
    ["a > b -.02 c", '"b -.02 c" is no side'],
    ["a > b-.02", '"b-.02" is no side'],
    ["a > 2 * 3", '"2 * 3" is no side'],
    ["a > 0 * b", '"0 * b" has the factor 0'],
    ["a >> b", '"" is no side'],
  ])("refuses %j", (text, sentence) => {
    expect(() => parseRelation(text, fail)).toThrow(sentence);
  });
});

import { describe, expect, it } from "vitest";
import { parseRequirement, requireScores } from "../../src/cli/require-scores.ts";
import { naming } from "../helpers/naming.ts";

describe("parseRequirement", () => {
  it("reads a metric, a relation and a number", () => {
    expect(parseRequirement("em>=0.5", ["em"])).toEqual({
      metric: "em",
      relation: ">=",
      bound: 0.5,
    });
    expect(parseRequirement(" ndcg@10 < 1 ", ["ndcg@10"])).toEqual({
      metric: "ndcg@10",
      relation: "<",
      bound: 1,
    });
  });

  it("says what it expects", () => {
    expect(() => parseRequirement("em", ["em"])).toThrow(naming("--require", '"em"', '"em>=0.5"'));
    expect(() => parseRequirement("em>=high", ["em"])).toThrow(/expected a metric/);
  });

  it("suggests the nearest metric", () => {
    expect(() => parseRequirement("cover-em>0", ["em", "cover_em"])).toThrow(
      naming("--require", '"cover-em"', 'Did you mean "cover_em"'),
    );
  });
});

describe("requireScores", () => {
  const requirements = ["em>=0.5", "f1>0.5"].map((text) => parseRequirement(text, ["em", "f1"]));

  it("accepts a bound that is met exactly only when the relation says so", () => {
    expect(() => {
      requireScores(requirements, { em: 0.5, f1: 0.6 });
    }).not.toThrow();
    expect(() => {
      requireScores(requirements, { em: 0.5, f1: 0.5 });
    }).toThrow(/^f1 is 0.5, required > 0.5\.$/);
  });

  it("lists every score that was missed", () => {
    expect(() => {
      requireScores(requirements, { em: 0.25, f1: 0.125 });
    }).toThrow(naming("em is 0.25", ">= 0.5", "f1 is 0.125", "> 0.5"));
  });

  it("tells a score that could not be computed from one that was missed", () => {
    expect(() => {
      requireScores(requirements, { em: 0, f1: null });
    }).toThrow(expect.objectContaining({ code: "SCORE_UNAVAILABLE" }) as Error);
  });
});

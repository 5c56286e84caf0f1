import { describe, expect, it } from "vitest";
import { askedShape, messageLengths } from "../../../src/recipe/probe/asked-shape.ts";
import {
  carriedOn,
  endedSoon,
  longestOf,
  longestShape,
  sequencesOf,
  type TrajectoryShape,
} from "../../../src/recipe/probe/trajectory-shape.ts";
import type { LongestSequence } from "../../../src/recipe/plan/longest-sequence.ts";

const longest: LongestSequence = {
  ...{ tokens: 100, bound: "context", prompt: 20 },
  messages: { count: 3, each: 10, tokens: 30 },
  observations: { count: 2, each: 30 },
};

const call = (read: number, written: number, anew = false) => ({ read, written, anew });
const searched: TrajectoryShape = { group: "q", calls: [call(20, 8, true), call(26, 6)] };

describe("the shape of a trajectory", () => {
  it("is a sequence that grows, or one for each prompt that was built anew", () => {
    expect(sequencesOf(searched)).toEqual([{ tokens: 60, written: 14 }]);
    const anew = { group: "q", calls: [call(20, 8, true), call(40, 6, true)] };
    expect(sequencesOf(anew)).toEqual([
      { tokens: 28, written: 8 },
      { tokens: 46, written: 6 },
    ]);
    expect(longestOf([searched, anew])).toBe(60);
  });

  it("at its longest is what the budgets allow, cut where the context ends", () => {
    const { calls } = longestShape(longest, "q");
    expect(calls).toEqual([call(20, 10, true), call(30, 10), call(30, 0)].slice(0, 2));
    const wide = longestShape({ ...longest, tokens: 200 }, "q");
    expect(wide.calls).toEqual([call(20, 10, true), call(30, 10), call(30, 10)]);
  });

  it("that was given up ends by one more message, or goes on to the limits", () => {
    const begun = { group: "q", calls: [call(20, 8, true)] };
    expect(endedSoon(searched).calls.at(-1)).toEqual(call(26, 6));
    expect(carriedOn(begun, longest).calls).toEqual([call(20, 8, true), call(30, 8)]);
  });
});

describe("what a question asks for", () => {
  const task = { id: "q", question: "?", references: ["a"], source: "s", annotations: { hops: 2 } };

  it("is a search for each hop and an answer, as long as the probe's", () => {
    const lengths = messageLengths([searched, { group: "r", calls: [call(22, 4, true)] }], 99);
    expect(lengths).toEqual({ prompt: 21, search: 8, answer: 5, shown: 26 });
    const wide = { ...longest, tokens: 200 };
    expect(askedShape(task, lengths!, wide)?.calls).toEqual([
      ...[call(21, 8, true), call(26, 8), call(26, 5)],
    ]);
  });

  it("is cut to what the budgets allow, and not known of a dataset that does not tell hops", () => {
    const lengths = { prompt: 20, search: 10, answer: 10, shown: 30 };
    // 20 + 10 leave 70: one search and what it shows.
    expect(askedShape(task, lengths, longest)?.calls).toHaveLength(2);
    expect(askedShape({ ...task, annotations: {} }, lengths, longest)).toBeNull();
  });

  it("has observations as long as allowed where none was seen", () => {
    expect(messageLengths([{ group: "r", calls: [call(22, 4, true)] }], 99)?.shown).toBe(99);
    expect(messageLengths([], 99)).toBeNull();
  });
});

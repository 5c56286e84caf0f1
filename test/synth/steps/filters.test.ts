import { describe, expect, it } from "vitest";
import { parseOptions } from "../../../src/base/schema.ts";
import {
  passRate,
  searched,
  solvedOnlyBy,
  toolNeed,
} from "../../../src/synth/steps/outcome-gates.ts";
import { perQuestion } from "../../../src/synth/steps/ranking.ts";
import { applyStep, candidate, outcome } from "../../helpers/drawn-candidates.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { answered } from "../../helpers/search-world.ts";

describe("solved-only-by", () => {
  const options = { draw: "hinted", not: "plain" };
  const hinted = (id: string, reward: number) => candidate(id, { draw: "hinted", reward });
  const plain = (id: string, reward: number) => candidate(id, { draw: "plain", reward });

  it("keeps what one draw got right and the other did not", async () => {
    const group = [hinted("a", 1), hinted("b", 0), plain("c", 0), candidate("d")];
    expect(outcome(await applyStep(solvedOnlyBy, group, options))).toEqual({
      kept: ["a"],
      dropped: ["b: wrong answer", "c: compared with", "d: another draw"],
    });
  });

  it("keeps nothing of a question that both solve, or that the other never saw", async () => {
    const both = await applyStep(
      solvedOnlyBy,
      [hinted("a", 1), plain("b", 0), plain("c", 1)],
      options,
    );
    expect(outcome(both).dropped).toEqual([
      "a: solved by both",
      "b: compared with",
      "c: compared with",
    ]);
    const alone = await applyStep(solvedOnlyBy, [hinted("a", 1)], options);
    expect(outcome(alone).dropped).toEqual(["a: nothing to compare with"]);
  });
});

describe("tool-need", () => {
  const options = { direct: "direct", tool: "agent" };
  const direct = (id: string, reward: number) => candidate(id, { draw: "direct", reward });
  const agent = (id: string, reward: number) => candidate(id, { draw: "agent", reward });

  it.each([
    ["direct answers where one is right", 1, 1, ["a"], ["b: tools not needed"]],
    ["tools where no direct answer is right", 0, 1, ["b"], ["a: wrong answer"]],
    ["nothing where both are wrong", 0, 0, [], ["a: solved by neither", "b: solved by neither"]],
  ])("keeps %s", async (_, a, b, kept, dropped) => {
    const result = await applyStep(toolNeed, [direct("a", a), agent("b", b)], options);
    expect(outcome(result)).toEqual({ kept, dropped });
  });
});

describe("pass-rate", () => {
  const eight = Array.from({ length: 8 }, (_, i) => candidate(`${i}`, { reward: i < 2 ? 1 : 0 }));

  it("tells all candidates of a question the share that is right", async () => {
    const { kept } = await applyStep(passRate, [...eight, candidate("x", { reward: null })]);
    expect(kept.map(({ scores }) => scores)).toEqual(
      Array.from({ length: 9 }, () => ({ "pass-rate": 0.25 })),
    );
    expect(eight[0]?.scores).toEqual({});
  });

  it.each([
    [{ min: 0.25, max: 0.25 }, null],
    [{ min: 0.3 }, "too hard"],
    [{ max: 0.2 }, "too easy"],
    [{ draw: "other" }, "not scored"],
  ])("keeps the questions of a band: %j", async (options, reason) => {
    const { kept, dropped } = await applyStep(passRate, eight, options);
    expect(kept).toHaveLength(reason === null ? 8 : 0);
    expect(new Set(dropped.map((each) => each.reason))).toEqual(
      new Set(reason === null ? [] : [reason]),
    );
  });
});

describe("per-question", () => {
  const searches = (count: number) => {
    const observations = Array.from({ length: count }, () => ({ tool: "search", text: "" }));
    const turn = { call: 0, text: "", actions: [], problems: [], observations };
    return answered("Oslo", { turns: [turn] });
  };

  it("keeps the best: by reward, then by fewest searches", async () => {
    const group = [
      candidate("low", { reward: 0.5, trajectory: searches(0) }),
      candidate("long", { trajectory: searches(3) }),
      candidate("short", { trajectory: searches(1) }),
      candidate("unscored", { reward: null }),
    ];
    expect(outcome(await applyStep(perQuestion, group, { best: 2 })).kept).toEqual([
      "long",
      "short",
    ]);
    expect(outcome(await applyStep(perQuestion, group)).kept).toEqual(["short"]);
  });

  it("draws among equals by the run's seed", async () => {
    const group = Array.from({ length: 10 }, (_, i) => candidate(`${i}`));
    const first = async (seed: number) => {
      return outcome(await applyStep(perQuestion, group, {}, { seed })).kept[0];
    };
    expect(await first(1)).toBe(await first(1));
    const drawn = await Promise.all([1, 2, 3, 4, 5, 6].map(first));
    expect(new Set(drawn).size).toBeGreaterThan(1);
  });
});

it("refuses bounds that nothing can meet", () => {
  expect(() => parseOptions(searched.options, { atLeast: 3, atMost: 2 }, "searched")).toThrow(
    errorWith("RECIPE_BAD_VALUE", "expected at least atLeast"),
  );
  expect(() => parseOptions(passRate.options, { min: 0.5, max: 0.2 }, "pass-rate")).toThrow(
    errorWith("RECIPE_BAD_VALUE", "expected at least min"),
  );
});

import { describe, expect, it } from "vitest";
import { type SearchNeedRow, searchNeed } from "../../../src/evaluate/rows-file.ts";

const row = (answer: string | null, em: number, searches: number): SearchNeedRow => ({
  answer,
  em,
  searches,
});

describe("searchNeed", () => {
  it("counts searches that changed nothing, helped or hurt, over the draws that searched", () => {
    const need = searchNeed([
      { free: row("Oslo", 1, 2), unaided: row("the oslo", 1, 0) },
      { free: row("Lima", 1, 1), unaided: row("Rome", 0, 0) },
      { free: row("Rome", 0, 1), unaided: row("Lima", 1, 0) },
      { free: row("Rome", 0, 3), unaided: row("rome.", 0, 0) },
      { free: row(null, 0, 3), unaided: row(null, 0, 0) },
      { free: row("x", 1, 0), unaided: row("x", 1, 0) },
    ]);
    expect(need).toMatchObject({
      over_search_rate: { n: 5, share: 3 / 5 },
      right_unaided_rate: { n: 5, share: 2 / 5 },
      search_helped_rate: { n: 5, share: 1 / 5 },
      search_hurt_rate: { n: 5, share: 1 / 5 },
    });
  });

  it("counts wrong answers without a search, and what searching would have given", () => {
    const need = searchNeed([
      { free: row("x", 1, 0) },
      { free: row("y", 0, 0), forced: row("x", 1, 1) },
      { free: row("y", 0, 0), forced: row("y", 0, 1) },
      { free: row(null, 0, 0) },
      { free: row("y", 0, 1), forced: row("x", 1, 1) },
    ]);
    expect(need.under_search_rate).toEqual({ n: 4, share: 3 / 4 });
    expect(need.search_missed_rate).toEqual({ n: 2, share: 1 / 2 });
    expect(need.over_search_rate).toEqual({ n: 0, share: null });
  });

  it("does not take an empty answer for none", () => {
    const need = searchNeed([{ free: row("", 0, 1), unaided: row(null, 0, 0) }]);
    expect(need.over_search_rate.share).toBe(0);
  });
});

import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { normalizeAnswer } from "../../src/text/answer-normalizations.ts";
import { bestAssignment, dropScores, ircotSpans, type Spans } from "../../src/text/drop-answers.ts";

interface Golden {
  tolerance: number;
  normal: [text: string, normal: string][];
  cases: [Spans, Spans[], em: number, f1: number, precision: number, recall: number][];
}

const golden = JSON.parse(
  await readFile(new URL("../golden/drop-answers.json", import.meta.url), "utf8"),
) as Golden;

describe("normalizeAnswer by drop", () => {
  it.each(golden.normal)("reads %j as Python does: %j", (text, normal) => {
    expect(normalizeAnswer(text, "drop")).toBe(normal);
  });
});

describe("dropScores", () => {
  it("has f1 of sets of words, to two places", () => {
    // Shared 30.0 and 1969.0 of three and three.
    expect(dropScores("30 Jan 1969", ["January 30, 1969"])).toEqual({
      em: 0,
      f1: 0.67,
      precision: 0.67,
      recall: 0.67,
    });
    // A set holds "new" once: precision and recall 1.
    expect(dropScores("new new york", ["new york"])).toMatchObject({ em: 0, f1: 1 });
  });

  it("is 0 for a span whose numbers all differ from the reference's", () => {
    expect(dropScores("in 1969", ["in 1970"])).toMatchObject({ f1: 0, precision: 0 });
    expect(dropScores("in 1969", ["in May"])).toMatchObject({ f1: 0.5 });
  });

  it("aligns spans one to one and averages over the longer side", () => {
    expect(dropScores(["Paris"], [["Paris", "Rome"]])).toMatchObject({ em: 0, f1: 0.5 });
    expect(dropScores(["Rome", "Paris"], [["Paris", "Rome"]])).toMatchObject({ em: 1, f1: 1 });
  });

  it("rounds a half to the even place", () => {
    // One word of eight: precision 0.125, recall 1.
    expect(dropScores("b c d e f g h i", ["b"]).precision).toBe(0.12);
    // Three of eight: 0.375.
    expect(dropScores("b c d e f g h i", ["b c d"]).precision).toBe(0.38);
  });

  it("takes the best reference, and gives 0 without any", () => {
    expect(dropScores("x", ["y", "x z", "x"])).toMatchObject({ em: 1, f1: 1 });
    expect(dropScores("x", [])).toEqual({ em: 0, f1: 0, precision: 0, recall: 0 });
  });

  it("gives what an independent program gives", () => {
    expect(golden.cases.length).toBeGreaterThan(80);
    for (const [prediction, references, em, f1, precision, recall] of golden.cases) {
      const found = dropScores(prediction, references);
      const expected = { em, f1, precision, recall };
      for (const [name, value] of Object.entries(expected)) {
        const difference = Math.abs(found[name as keyof typeof found] - value);
        expect(
          difference,
          JSON.stringify({ prediction, references, found, expected }),
        ).toBeLessThan(golden.tolerance);
      }
    }
  });
});

describe("ircotSpans", () => {
  it.each([
    ["Oslo", ["Oslo"]],
    ['["Oslo", "Bergen"]', ["Oslo", " Bergen"]],
    ["Oslo]", ["Oslo"]],
    ["So the answer is: Oslo.", ["Oslo"]],
    ["The answer is Oslo", ["Oslo"]],
    ["answer is Oslo", ["answer is Oslo"]],
    ["The answer is x. The answer is y.", ["y"]],
    ['"Oslo"', ["Oslo"]],
    ['"', [""]],
    ["", [""]],
  ])("reads %j as %j", (text, spans) => {
    expect(ircotSpans(text)).toEqual(spans);
  });

  it("looks for what follows in each span of a list, and parts none of them", () => {
    expect(ircotSpans(["the answer is [1, 2]", "x"])).toEqual(["[1, 2]", "x"]);
  });
});

function total(gain: readonly number[][], columns: readonly number[]): number {
  return columns.reduce((sum, column, row) => sum + (gain[row]?.[column] ?? 0), 0);
}

/** The greatest sum by trying everything. */
function best(gain: readonly number[][], row = 0, taken: readonly number[] = []): number {
  if (row === gain.length) return 0;
  const rest = gain[row]!.flatMap((value, column) =>
    taken.includes(column) ? [] : [value + best(gain, row + 1, [...taken, column])],
  );
  const skips = gain.length > gain[0]!.length ? [best(gain, row + 1, taken)] : [];
  return Math.max(...rest, ...skips, taken.length === gain[0]!.length ? 0 : -Infinity);
}

describe("bestAssignment", () => {
  it("finds the greatest sum, not the greatest first", () => {
    expect(
      bestAssignment([
        [1, 2],
        [3, 5],
      ]),
    ).toEqual([0, 1]);
    expect(
      bestAssignment([
        [5, 4],
        [4, 1],
      ]),
    ).toEqual([1, 0]);
  });

  it("leaves rows without a column where there are more rows", () => {
    expect(bestAssignment([[1], [3], [2]])).toEqual([-1, 0, -1]);
    expect(bestAssignment([[1, 3, 2]])).toEqual([1]);
  });

  it("equals trying everything, on random tables of every shape", () => {
    const draw = random(5);
    for (let i = 0; i < 300; i++) {
      const rows = 1 + draw.int(5);
      const columns = 1 + draw.int(5);
      const gain = Array.from({ length: rows }, () =>
        Array.from({ length: columns }, () => (draw.int(3) === 0 ? 0 : draw.next())),
      );
      const found = bestAssignment(gain);
      const used = found.filter((column) => column >= 0);
      expect(new Set(used).size).toBe(Math.min(rows, columns));
      expect(used.length).toBe(Math.min(rows, columns));
      expect(total(gain, found)).toBeCloseTo(best(gain), 12);
    }
  });
});

import { describe, expect, it } from "vitest";
import { type PairRows, pairRows } from "../../src/algorithms/preference-rows.ts";
import type { PreferencePair } from "../../src/trajectory/sample.ts";
import { tokenRows } from "../../src/trajectory/trajectory.ts";
import { errorWith } from "../helpers/error-with.ts";
import { madePair, madeTrajectory } from "../helpers/made-pairs.ts";

/** One id a character. */
const encode = (text: string): number[] => Array.from(text, (sign) => sign.charCodeAt(0));
const made = (id: string, ...texts: string[]) =>
  madeTrajectory(
    id,
    texts.map((text) => ({ text, reply: "-" })),
    { encode, prompt: "?" },
  );

const read = (pair: PreferencePair, maxPositions = 99) =>
  pairRows(pair, {
    rows: {
      chosen: tokenRows(pair.chosen.trajectory),
      rejected: tokenRows(pair.rejected.trajectory),
    },
    maxPositions,
    where: "pairs.jsonl:1",
  });

/** The compared characters of each side, with a dot for each that is context. */
function compared(pair: PreferencePair): string[] {
  const { chosen, rejected } = read(pair) as PairRows;
  return [chosen, rejected].map(({ rows }) =>
    rows
      .map(({ ids, compared: marks }) =>
        [...ids].map((id, i) => (marks[i] === 1 ? String.fromCharCode(id) : ".")).join(""),
      )
      .join("|"),
  );
}

describe("the rows of a pair", () => {
  it("compare what the policy wrote, and neither prompt nor replies", () => {
    const pair = madePair("p", made("a", "ab", "c"), made("b", "x"));
    expect(compared(pair)).toEqual([".ab.c", ".x"]);
  });

  it("compare one turn of the same state, and end with it", () => {
    const pair = madePair("p", made("a", "ab", "cd", "e"), made("b", "ab", "xyz", "w"), {
      fromTurn: 1,
      turns: 1,
    });
    expect(compared(pair)).toEqual(["....cd", "....xyz"]);
  });

  it("compare a token once though two branches share it", () => {
    const branched = made("a", "ab", "c", "d");
    // The third message goes on from the first, as the second did.
    branched.calls[2] = { ...branched.calls[2]!, parent: 0 };
    expect(compared(madePair("p", branched, made("b", "x")))).toEqual([".ab.c|....d", ".x"]);
  });

  it("are none where a side has nothing to compare or does not fit", () => {
    const short = made("b", "x");
    expect(read(madePair("p", made("a", ""), short))).toBe("nothing-compared");
    expect(read(madePair("p", made("a", "abcd"), short), 3)).toBe("too-long");
    // Five tokens, of which the last is only predicted.
    expect(read(madePair("p", made("a", "abcd"), short), 4)).toMatchObject({
      chosen: { tokens: 4 },
    });
  });

  it("refuse turns of different states, naming the line", () => {
    const pair = madePair("p", made("a", "ab", "c"), made("b", "xy", "z"), { fromTurn: 1 });
    expect(() => read(pair)).toThrow(errorWith("DATA_BAD_RECORD", /pairs.jsonl:1.*turn 0/));
  });
});

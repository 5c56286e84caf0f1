import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openResults } from "../../src/view/results-files.ts";
import { runFigures } from "../../src/view/run-figures.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { searchTrajectory, writeResults } from "../helpers/report-folder.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

/** The trajectory with its first turn played twice: the same query again. */
function searchedTwice(trajectory: Trajectory): Trajectory {
  return { ...trajectory, turns: [trajectory.turns[0]!, ...trajectory.turns] };
}

describe("the figures of a run", () => {
  it("count searches, repeated queries and the gold seen by search, failed draws apart", async () => {
    const rows = [
      { id: "a", question: "A?", em: 1 },
      { id: "b", question: "B?", em: 0, searches: 2 },
      { id: "c", question: "C?", em: 0, searches: 2 },
      {
        id: "d",
        question: "D?",
        em: 0,
        error: { boundary: "model", code: "HTTP_TIMEOUT", message: "late" },
      },
    ];
    const [a, b, c, d] = rows.map((row) => searchTrajectory(row));
    const trajectories = [a!, searchedTwice(b!), searchedTwice(c!), d!];
    const [files] = await openResults([writeResults(join(folder, "a"), rows, { trajectories })]);
    // p2 is found by the first search, p9 by none.
    const figures = await runFigures(files!, () => ["p2", "p9"]);
    expect(figures.draws).toBe(4);
    expect(figures.bySearches.map(({ searches, draws, em }) => [searches, draws, em])).toEqual([
      [0, 0, null],
      [1, 1, 1],
      [2, 2, 0],
    ]);
    expect(figures.duplicates).toEqual({ searches: 5, repeated: 2, trajectories: 2 });
    expect(figures.evidence).toEqual({ draws: 3, byRound: [0, 0.5, 0.5] });
    expect(figures.failures).toEqual({ HTTP_TIMEOUT: 1 });
  });

  it("take queries and evidence from rows that tell them", async () => {
    const rows = [
      {
        id: "a",
        question: "A?",
        em: 1,
        searches: 3,
        queries: ["x", " X", "y"],
        evidence: { gold: 4, given: 1, seen: [1, 3] },
      },
    ];
    const [files] = await openResults([writeResults(join(folder, "b"), rows)]);
    const figures = await runFigures(files!, () => null);
    expect(figures.duplicates).toEqual({ searches: 3, repeated: 1, trajectories: 1 });
    expect(figures.evidence).toEqual({ draws: 1, byRound: [0.25, 0.25, 0.75] });
  });
});

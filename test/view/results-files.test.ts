import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openResults, scoredTrajectories } from "../../src/view/results-files.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { searchTrajectory, writeResults } from "../helpers/report-folder.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const rows = ["a", "b", "c"].map((id) => ({ id, question: `Where is ${id}?`, em: 1 }));

describe("opening results", () => {
  it("takes a folder or its results.json, and names results by the shortest path that tells them apart", async () => {
    const places = ["x/eval", "y/eval"].map((name) => writeResults(join(folder, name), rows));
    const opened = await openResults([places[0]!, join(places[1]!, "results.json")]);
    expect(opened.map(({ name }) => name)).toEqual(["x/eval", "y/eval"]);
    expect(opened[0]!.results.metrics["em"]).toBe(1);
  });

  it("says what a file lacks that holds other JSON", async () => {
    const path = join(folder, "other.json");
    writeFileSync(path, '{"n": 3}');
    await expect(openResults([path])).rejects.toThrow(
      errorWith("RESULTS_BAD", /other\.json: samplesPerTask is missing: expected/),
    );
  });

  it("refuses one result named twice", async () => {
    const place = writeResults(join(folder, "twice"), rows);
    await expect(openResults([place, join(place, "results.json")])).rejects.toThrow(
      errorWith("RESULTS_TWICE", "twice"),
    );
  });
});

describe("rows with their trajectories", () => {
  const trajectories = rows.map((row) => searchTrajectory(row));

  it("come together however the two files are ordered", async () => {
    const place = writeResults(join(folder, "mixed"), rows, {
      trajectories: [trajectories[2]!, trajectories[0]!, trajectories[1]!],
    });
    const [files] = await openResults([place]);
    const pairs = await collect(scoredTrajectories(files!));
    expect(pairs.map(({ row, trajectory }) => [row.id, trajectory?.taskId]).sort()).toEqual([
      ["a", "a"],
      ["b", "b"],
      ["c", "c"],
    ]);
  });

  it("keep rows whose trajectory is missing, and come without trajectories at all", async () => {
    const place = writeResults(join(folder, "gap"), rows, {
      trajectories: [trajectories[0]!, null, trajectories[2]!],
    });
    const [files] = await openResults([place]);
    const found = await collect(scoredTrajectories(files!));
    expect(found.map(({ row, trajectory }) => [row.id, trajectory !== null])).toEqual([
      ["a", true],
      ["c", true],
      ["b", false],
    ]);
    rmSync(join(place, "trajectories.jsonl"));
    expect(await collect(scoredTrajectories(files!))).toHaveLength(3);
  });
});

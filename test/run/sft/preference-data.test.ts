import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadPairs } from "../../../src/run/sft/preference-data.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { madePair, madeTrajectory } from "../../helpers/made-pairs.ts";
import { tokenizer } from "../../helpers/search-world.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const engine = {
  capabilities: {
    maxPositions: 512,
    vocabSize: 1000,
    adapters: false,
    temperatures: true,
    losses: [],
    critic: null,
  },
};

/** A message of text that its writer ended, as teachers without token ids leave it. */
function said(id: string, text: string): Trajectory {
  const made = madeTrajectory(id, [{ text }]);
  return { ...made, calls: made.calls.map((call) => ({ ...call, finish: "eos" })) };
}

async function load(name: string, sides: [unknown, unknown], stopStrings: string[] = []) {
  const pair = madePair("p", said("a", "x"), said("b", "y"));
  const [chosen, rejected] = sides;
  const line = {
    ...pair,
    chosen: { ...pair.chosen, trajectory: chosen },
    rejected: { ...pair.rejected, trajectory: rejected },
  };
  const file = join(folder, name);
  await writeFile(file, `${JSON.stringify(line)}\n`);
  return loadPairs(file, { engine, student: { tokenizer, stopStrings }, hints: "read" });
}

describe("pairs of text", () => {
  const right = "<answer> Oslo</answer>";
  const wrong = "<answer> Bergen";

  it("end with an end token only where the student's rollouts would reach one", async () => {
    const length = (text: string): number => tokenizer.encode(text).length;
    const [plain] = (await load("plain.jsonl", [said("a", right), said("b", wrong)])).pairs;
    expect([plain?.chosen.tokens, plain?.rejected.tokens]).toEqual([
      length(right) + 1,
      length(wrong) + 1,
    ]);
    const sides: [Trajectory, Trajectory] = [said("a", right), said("b", wrong)];
    const [stopped] = (await load("stopped.jsonl", sides, ["</answer>"])).pairs;
    expect([stopped?.chosen.tokens, stopped?.rejected.tokens]).toEqual([
      length(right),
      length(wrong) + 1,
    ]);
  });

  it("that were spoilt by hand are refused by file and line", async () => {
    const { calls: _, ...spoilt } = said("a", right);
    await expect(load("spoilt.jsonl", [spoilt, said("b", wrong)])).rejects.toEqual(
      errorWith("DATA_BAD_RECORD", /spoilt\.jsonl:1/),
    );
  });
});

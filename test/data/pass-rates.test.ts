import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readPassRates } from "../../src/data/pass-rates.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

async function rates(...lines: unknown[]) {
  const path = join(folder, "rows.jsonl");
  await writeFile(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
  return readPassRates(path);
}

const drawOf = (id: string, ...rewards: (number | null)[]) => ({
  task: { id, question: `${id}?` },
  candidates: rewards.map((reward) => ({ trajectory: { reward } })),
});

describe("readPassRates", () => {
  it("takes the exact matches of an evaluation's rows, all draws of a question together", async () => {
    const row = (id: string, em: number, more = {}) => ({ id, question: `${id}?`, em, ...more });
    const failed = row("a", 0, { error: { code: "TOOL_FAILED" } });
    expect(await rates(row("a", 1), row("b", 0), row("a", 0), failed, row("a", 0))).toEqual([
      { id: "a", question: "a?", rate: 1 / 3, draws: 3, tries: 1 },
      { id: "b", question: "b?", rate: 0, draws: 1, tries: Infinity },
    ]);
  });

  it("takes rewards of at least 1 of a synthesis's draws, those that were scored", async () => {
    expect(await rates(drawOf("a", 1, 0.9, null, 1.1), drawOf("b", null))).toEqual([
      { id: "a", question: "a?", rate: 2 / 3, draws: 3, tries: 1 },
    ]);
  });

  it("counts one draw of a synthesis where it is named", async () => {
    const { candidates, ...rest } = drawOf("a", 1, 0);
    const named = candidates.map((each, i) => {
      return { ...each, provenance: { draw: { name: i === 0 ? "direct" : "tools" } } };
    });
    const path = join(folder, "draws.jsonl");
    await writeFile(path, JSON.stringify({ ...rest, candidates: named }));
    expect((await readPassRates(path, "tools"))[0]).toMatchObject({ rate: 0, draws: 1 });
    expect((await readPassRates(path))[0]).toMatchObject({ rate: 0.5, draws: 2 });
  });

  it("names a line of another kind, and a file in which nothing was scored", async () => {
    await expect(rates(drawOf("a", 1), { prediction: "x" })).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", /rows\.jsonl:2: is neither a row of an evaluation/),
    );
    await expect(rates(drawOf("b", null))).rejects.toThrow(errorWith("DATA_EMPTY", "rows.jsonl"));
  });
});

import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { type RankedHit, readRun, writeRun } from "../../src/evaluate/retrieval-sets.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);
const idsOf = (hits: readonly RankedHit[] = []): string[] => hits.map(({ id }) => id);

describe("readRun", () => {
  it("orders by score, ties by the greater id, and ignores the rank column", async () => {
    const lines = ["q Q0 a 1 1.5 t", "q\tQ0\tb\t9\t1.5\tt", "", "q Q0 c 2 2e0 t", "r Q0 a 1 -1 t"];
    await writeFile(at("a.run"), lines.join("\r\n"));
    const run = await readRun(at("a.run"));
    expect(idsOf(run.get("q"))).toEqual(["c", "b", "a"]);
    expect(run.get("r")).toEqual([{ id: "a", score: -1 }]);
    await writeFile(at("a.run.gz"), gzipSync(lines.join("\n")));
    expect(await readRun(at("a.run.gz"))).toEqual(run);
  });

  it("takes scores that a 32-bit float does not tell apart for ties, and bytes for the order of ids", async () => {
    const lines = [
      "q Q0 a 1 1.00000001 t",
      "q Q0 b 2 1 t",
      "q Q0 \u{1f600} 3 1 t",
      "q Q0 \uff5e 4 1 t",
    ];
    await writeFile(at("b.run"), lines.join("\n"));
    expect(idsOf((await readRun(at("b.run"))).get("q"))).toEqual(["\u{1f600}", "\uff5e", "b", "a"]);
  });

  it.each(["q Q0 a 1 1.5", "q Q0 a 1 much t", "q Q0 a 1 1.5 t more", "q"])(
    "names the line %j",
    async (line) => {
      await writeFile(at("bad.run"), `q Q0 z 1 2 t\n${line}\n`);
      await expect(readRun(at("bad.run"))).rejects.toThrow(
        errorWith("RUN_BAD_LINE", `bad.run:2: is ${JSON.stringify(line)}; expected six columns`),
      );
    },
  );

  it("refuses a passage that a query has twice, and a file that is not there", async () => {
    await writeFile(at("twice.run"), "q Q0 a 1 2 t\nq Q0 a 2 1 t\n");
    await expect(readRun(at("twice.run"))).rejects.toThrow(
      errorWith("RUN_BAD_LINE", 'twice.run:2: query "q" has passage "a" twice'),
    );
    await expect(readRun(at("none.run"))).rejects.toThrow(errorWith("FILE_MISSING"));
  });
});

describe("writeRun", () => {
  it("lowers a score only where trec_eval would change the order", async () => {
    const scores: RankedHit[] = [
      { id: "c", score: 2 },
      { id: "b", score: 2 },
      { id: "d", score: 2 },
      { id: "a", score: 2 },
      { id: "e", score: 1.5 },
    ];
    await writeRun(at("ties.run"), new Map([["q", scores]]), "my run");
    expect(await readFile(at("ties.run"), "utf8")).toMatchInlineSnapshot(`
      "q Q0 c 1 2 my-run
      q Q0 b 2 2 my-run
      q Q0 d 3 1.9999998807907104 my-run
      q Q0 a 4 1.9999998807907104 my-run
      q Q0 e 5 1.5 my-run
      "
    `);
  });

  it("writes any scores so that they are read in the same order", async () => {
    const cases = [
      [0, 0, 0],
      [-1, -1, -1],
      [1e-9 + 1, 1, 1 - 1e-9],
      [3, 3, 3 - 2 ** -30],
      [1, 2, 3],
    ];
    for (const [low, middle, high] of [
      ["a", "b", "c"],
      ["c", "b", "a"],
      ["b", "c", "a"],
    ] as const) {
      const run = new Map(
        cases.map((scores, i) => [
          `q${i}`,
          [low, middle, high].map((id, rank) => ({ id, score: scores[rank]! })),
        ]),
      );
      await writeRun(at("any.run"), run, "t");
      const read = await readRun(at("any.run"));
      for (const [query, hits] of run) expect(idsOf(read.get(query))).toEqual(idsOf(hits));
    }
  });

  it("refuses ids with blanks before it writes anything", async () => {
    const hits = [{ id: "a b", score: 1 }];
    await expect(writeRun(at("blank.run"), new Map([["q", hits]]), "t")).rejects.toThrow(
      errorWith("RUN_ID_BLANK", 'the passage id "a b" is empty or contains a space'),
    );
    await expect(writeRun(at("blank.run"), new Map([["", []]]), "t")).rejects.toThrow(
      errorWith("RUN_ID_BLANK", 'the query id ""'),
    );
    expect(existsSync(at("blank.run"))).toBe(false);
  });
});

import { parse } from "csv-parse/sync";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openResults } from "../../src/view/results-files.ts";
import { rowsAsCsv, rowsAsJsonl } from "../../src/view/rows-text.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { writeResults } from "../helpers/report-folder.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

function readCsv(text: string): string[][] {
  return parse(text, { recordDelimiter: "\r\n" });
}

const folder = temporaryFolder();
const question = 'Who said "no, never"?\nAnd when?';

async function opened(name: string, rows: Parameters<typeof writeResults>[1]) {
  return openResults([writeResults(join(folder, name), rows)]);
}

describe("rows as CSV", () => {
  it("quotes commas, quotes and line ends, spreads objects and leaves null empty", async () => {
    const error = { boundary: "model", code: "HTTP_TIMEOUT", message: "late" };
    const files = await opened("csv", [
      { id: "a", question, em: 0.5, answer: null },
      { id: "b", question: "Where?", em: 0, error },
    ]);
    const text = (await collect(rowsAsCsv(files))).join("");
    expect(text).toBe(
      "sample,references,answer,f1,cover_em,searches,turns,end,formatOk,tokens,id,question,em,error.boundary,error.code,error.message\r\n" +
        '0,"[""Paris""]",,0.5,0.5,1,2,answered,true,9,a,"Who said ""no, never""?\nAnd when?",0.5,,,\r\n' +
        '0,"[""Paris""]",Paris,0,0,1,2,answered,true,9,b,Where?,0,model,HTTP_TIMEOUT,late\r\n',
    );
  });

  it.each([
    ...["=1+1", "+1-2", "-1+cmd|'/c calc'!A1", "@SUM(1)", "\t=1", "\r=1", "\n=1"],
    ...[" =1", '"=1', "'=1", "\u00a0=1", "\ufeff@a", "＝1", "＋1", "－1", "＠a", "-"],
    ...["\ttab", "\rreturn", "- a list", "-Infinity"],
  ])("keeps %j from being run, and the text can be restored", async (answer) => {
    const files = await opened("run", [
      { id: answer, question: answer, em: 0, answer, [answer]: 1 },
    ]);
    const [heads = [], cells = []] = readCsv((await collect(rowsAsCsv(files))).join(""));
    const guarded = cells[heads.indexOf("answer")] ?? "";
    expect(guarded).toBe(`'${answer}`);
    expect(cells.filter((cell) => cell === guarded)).toHaveLength(3);
    expect(heads).toContain(guarded);
  });

  it.each(["-0.5", "+3", "-1e-7", ".5", "-.5", "Paris", "a=b", "10-11", "(=1)", "", "x\n=1"])(
    "leaves %j as it is",
    async (answer) => {
      const files = await opened("left", [{ id: "a", question, em: -0.5, answer }]);
      const [heads = [], cells = []] = readCsv((await collect(rowsAsCsv(files))).join(""));
      expect(cells[heads.indexOf("answer")]).toBe(answer);
      expect(cells[heads.indexOf("em")]).toBe("-0.5");
    },
  );

  it("needs rows", async () => {
    const [files] = await opened("bare", [{ id: "a", question, em: 1 }]);
    rmSync(join(files!.folder, "rows.jsonl"));
    const again = await openResults([files!.folder]);
    await expect(collect(rowsAsCsv(again))).rejects.toThrow(
      errorWith("FILE_MISSING", "rows.jsonl"),
    );
  });
});

describe("rows as JSON lines", () => {
  it("are as they were; of several results each begins with whose it is", async () => {
    const places = ["one", "two"].map((name) =>
      writeResults(join(folder, name), [{ id: "a", question, em: 1 }]),
    );
    const single = await collect(rowsAsJsonl(await openResults([places[0]!])));
    expect(JSON.parse(single.join(""))).toMatchObject({ id: "a", question });
    const both = await collect(rowsAsJsonl(await openResults(places)));
    expect(both.map((line) => line.slice(0, 45))).toEqual([
      '{"result":"one","fingerprint":"aaaaaaaaaaaa",',
      '{"result":"two","fingerprint":"aaaaaaaaaaaa",',
    ]);
  });
});

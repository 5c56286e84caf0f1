import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openResults } from "../../src/report/results-files.ts";
import { rowsAsCsv, rowsAsJsonl } from "../../src/report/rows-text.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { writeResults } from "../helpers/report-folder.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

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

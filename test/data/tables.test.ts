import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { readRecords } from "../../src/data/records.ts";
import { loadTasks } from "../../src/data/tasks.ts";
import { collect } from "../helpers/collect.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

async function written(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

describe("CSV tables", () => {
  const rows = '\uFEFFfrage;gold\r\n"Wer; ""A""?";Ada\r\nWo?;"[""Oslo"", ""Kristiania""]"\r\n';

  it.each([
    ["semicolons.csv", rows],
    ["semicolons.csv.gz", gzipSync(rows)],
    ["commas.csv", 'frage,gold\n"Wer; ""A""?",Ada\nWo?,"[""Oslo"", ""Kristiania""]"'],
    ["tabs.tsv", 'frage\tgold\n"Wer; ""A""?"\tAda\nWo?\t["Oslo", "Kristiania"]\n'],
  ])("%s: quoted cells, and a JSON list of accepted answers", async (name, content) => {
    const tasks = await loadTasks(await written(name, content));
    expect(tasks.map(({ question, references }) => [question, references])).toEqual([
      ['Wer; "A"?', ["Ada"]],
      ["Wo?", ["Oslo", "Kristiania"]],
    ]);
  });

  it("names the line of a row that has too many cells, also behind a cell with line breaks", async () => {
    const path = await written("long.csv", 'question,answer\n"a\nb?",x\nWho, and why?,Ada\n');
    await expect(loadTasks(path)).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", "long.csv:4: has 3"),
    );
  });

  it("refuses two columns of one name and a quote that does not close", async () => {
    const twice = await written("twice.csv", "question,answer,answer\na?,b,c\n");
    await expect(loadTasks(twice)).rejects.toThrow(errorWith("DATA_BAD_RECORD", '"answer"'));
    const open = await written("open.csv", 'question,answer\n"a?,b\nc?,d\n');
    await expect(loadTasks(open)).rejects.toThrow(errorWith("DATA_BAD_RECORD", "open.csv: "));
  });

  it("reads lines that end in CR alone, and UTF-16 as Excel writes it", async () => {
    const cr = await written("cr.csv", 'question,answer\rwho?,Ada\r"where,\rto?",Oslo\r');
    expect((await loadTasks(cr)).map(({ question }) => question)).toEqual(["who?", "where,\rto?"]);
    const wide = Buffer.from("\uFEFFfrage\tgold\r\nWer?\tJürgen\r\n", "utf16le");
    const [task] = await loadTasks(await written("excel.csv", wide));
    expect(task?.references).toEqual(["Jürgen"]);
  });

  it("keeps leading zeros and the digits of every number", async () => {
    const path = await written("zeros.csv", "id,question,answer\n007,a?,0012.50\n");
    expect(await loadTasks(path)).toMatchObject([{ id: "007", references: ["0012.50"] }]);
  });

  it.each([
    ["who wrote it?,Ada\nwhere?,Oslo\n", "looks like data"],
    ["q,answer\na?,b\0c\n", "NUL"],
  ])("refuses %j", async (content, problem) => {
    await expect(loadTasks(await written("data.csv", content))).rejects.toThrow(problem);
  });

  it("streams: the end of a long table is not read for its first row", async () => {
    const rows = Buffer.from(`question,answer\n${"a?,b\n".repeat(100_000)}`);
    const path = await written("big.csv", Buffer.concat([rows, Buffer.from([0xff])]));
    for await (const { record } of readRecords(path)) {
      expect(record).toEqual({ question: "a?", answer: "b" });
      break;
    }
    await expect(collect(readRecords(path))).rejects.toThrow(errorWith("DATA_BAD_RECORD", "UTF-8"));
  });

  it("keeps a text in brackets that is no list of answers", async () => {
    const path = await written("bracket.csv", 'id,text\n1,"[see ""note""]"\n');
    expect((await collect(readRecords(path))).map(({ record }) => record)).toEqual([
      { id: "1", text: '[see "note"]' },
    ]);
  });
});

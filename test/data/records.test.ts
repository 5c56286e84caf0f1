import { execFileSync } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { jsonElements, readRecords } from "../../src/data/records.ts";
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
const recordsOf = async (path: string): Promise<unknown[]> =>
  (await collect(readRecords(path))).map(({ record }) => record);

/** A text's bytes in pieces of at most `size`. */
function* pieces(text: string, size: number): Generator<Buffer> {
  const bytes = Buffer.from(text);
  for (let i = 0; i < bytes.length; i += size) yield bytes.subarray(i, i + size);
}
const elements = async (text: string, size: number): Promise<unknown[]> =>
  (await collect(jsonElements(Readable.from(pieces(text, size)), "a.json"))).map(
    ({ value }) => value,
  );

describe("jsonElements", () => {
  const awkward = [
    { a: 'brackets ]}[{ , and "quotes" \\', b: [[1, [2]], {}], ü: "日本\\\\" },
    ...["\\", '\\"', "", "]", [], [[]], null, true, -1.5e-3],
  ];

  it.each([1, 2, 3, 7, 64, 4096])(
    "gives what the whole file would, in pieces of %i",
    async (size) => {
      expect(await elements(JSON.stringify(awkward), size)).toEqual(awkward);
      expect(await elements(JSON.stringify(awkward, null, 2), size)).toEqual(awkward);
      expect(
        await elements(`{ "Data": ${JSON.stringify(awkward)}, "Version": [1] }`, size),
      ).toEqual(awkward);
    },
  );

  it("agrees with the parser of whole files on 300 random values", async () => {
    const draw = random("elements");
    const value = (depth: number): unknown => {
      const kind = draw.int(depth > 3 ? 3 : 5);
      if (kind === 0) return draw.int(1000) - 500;
      if (kind === 1)
        return String.fromCharCode(...Array.from({ length: draw.int(9) }, () => draw.int(127)));
      if (kind === 2) return ['"', "\\", "[", "]", "{", ","][draw.int(6)];
      const items = Array.from({ length: draw.int(4) }, () => value(depth + 1));
      return kind === 3 ? items : Object.fromEntries(items.map((item, i) => [`k"${i}`, item]));
    };
    const all = Array.from({ length: 300 }, () => value(0));
    expect(await elements(JSON.stringify(all), 11)).toEqual(all);
  });

  it("gives nothing of an empty list", async () => {
    expect(await elements("[]", 1)).toEqual([]);
    expect(await elements(" [ \n ] ", 1)).toEqual([]);
  });

  it("names the record that is broken, and the one where the file ends", async () => {
    await expect(elements('[{"a":1},{"a":}]', 4)).rejects.toThrow(
      errorWith("FILE_NOT_JSON", /^a\.json: record 2: is not JSON \(/),
    );
    await expect(elements('[{"a":1},{"a":2}', 4)).rejects.toThrow(
      errorWith("FILE_NOT_JSON", "a.json: record 2: is not JSON ("),
    );
    await expect(elements("[1,,2]", 4)).rejects.toThrow(
      errorWith("FILE_NOT_JSON", "a.json: record 2"),
    );
  });

  it.each([1, 3, 64])(
    "refuses a second list behind the first, as of files put together, in pieces of %i",
    async (size) => {
      await expect(elements('[{"a":1}]\n[{"a":2}]\n', size)).rejects.toThrow(
        errorWith("FILE_NOT_JSON", /^a\.json: after record 1: .*"\[/),
      );
      expect(await elements('[{"a":1}]\r\n \n', size)).toEqual([{ a: 1 }]);
    },
  );
});

describe("readRecords", () => {
  it("reads a packed array, and TriviaQA's envelope, as it does lines", async () => {
    const records = [{ a: 1 }, { a: "x" }];
    const lines = records.map((record) => JSON.stringify(record)).join("\n");
    for (const [name, content] of [
      ["a.jsonl", lines],
      ["a.json", JSON.stringify(records, null, 1)],
      ["b.json", `\uFEFF\n ${JSON.stringify(records)}`],
      ["c.json.gz", gzipSync(JSON.stringify(records))],
      ["d.json", JSON.stringify({ Data: records, Domain: "Web" }, null, 4)],
      ["e.tsv", "a\n1\nx\n"],
    ] as const) {
      const found = await recordsOf(await written(name, content));
      expect(found, name).toEqual(name.endsWith("tsv") ? [{ a: "1" }, { a: "x" }] : records);
    }
  });

  it("reads a table's quoted cells with tabs, quotes and line breaks, and says where a row is short", async () => {
    const text = 'id\tq\r\n1\t"say ""hi""\tor\nbye"\r\n\r\n2\t5" disk\r\n3\n4\t\n';
    const path = await written("t.tsv", text);
    const problems: string[] = [];
    const onBad = (error: Error): unknown => problems.push(error.message.slice(path.length));
    const found = await collect(readRecords(path, { onBad }));
    expect(found.map(({ record, where }) => [where.slice(path.length), record])).toEqual([
      [":2", { id: "1", q: 'say "hi"\tor\nbye' }],
      [":5", { id: "2", q: '5" disk' }],
      [":7", { id: "4", q: "" }],
    ]);
    expect(problems).toEqual([
      expect.stringMatching(/^:6: has 1 cells, but the first row has 2\./),
    ]);
    await expect(recordsOf(path)).rejects.toThrow(errorWith("DATA_BAD_RECORD", ":6: has 1"));
  });

  it("reads PopQA's table as pandas writes it", async () => {
    const path = await written(
      "popqa.tsv",
      'id\tsubj\tprop\tquestion\tpossible_answers\n4222362\tGeorge Rankin\toccupation\tWhat is George Rankin\'s occupation?\t"[""politician"", ""political leader""]"\n',
    );
    expect(await loadTasks(path)).toEqual([
      {
        id: "4222362",
        question: "What is George Rankin's occupation?",
        references: ["politician", "political leader"],
        source: "popqa",
        annotations: { type: "occupation" },
      },
    ]);
  });

  it("stops reading when nobody asks for more", async () => {
    const path = await written("long.json", `[{"a":1},{"a":2},${" ".repeat(1 << 20)}broken`);
    for await (const { record } of readRecords(path)) {
      expect(record).toEqual({ a: 1 });
      break;
    }
  });

  it("refuses bytes that are no text: the answers in them could never be matched", async () => {
    const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");
    for (const [name, code] of [
      ["l.jsonl", "JSONL_BAD_LINE"],
      ["l.json", "FILE_NOT_JSON"],
      ["l.tsv", "DATA_BAD_RECORD"],
    ] as const) {
      const text = name === "l.tsv" ? "a\nParís\n" : '[{"a":"París"}]';
      const content = latin1(name === "l.jsonl" ? text.slice(1, -1) : text);
      await expect(recordsOf(await written(name, content))).rejects.toThrow(
        errorWith(code, "not UTF-8"),
      );
    }
    const sign = await written("sign.jsonl", '{"a":"\uFFFD"}\n');
    expect(await recordsOf(sign)).toEqual([{ a: "\uFFFD" }]);
  });

  it.skipIf(process.platform === "win32")(
    "refuses a pipe, whose beginning it would lose, and a folder",
    async () => {
      const pipe = join(folder, "pipe.jsonl");
      execFileSync("mkfifo", [pipe]);
      await expect(recordsOf(pipe)).rejects.toThrow(errorWith("FILE_MISSING", "is a pipe"));
      await expect(recordsOf(folder)).rejects.toThrow(errorWith("DATA_FOLDER_UNCLEAR", ":popqa"));
    },
  );

  it("names a file that is absent or not packed as its name says", async () => {
    await expect(recordsOf(join(folder, "none.tsv"))).rejects.toThrow(errorWith("FILE_MISSING"));
    const path = await written("plain.tsv.gz", "a\n1\n");
    await expect(recordsOf(path)).rejects.toThrow(errorWith("FILE_DAMAGED", "plain.tsv.gz"));
  });
});

describe("SQuAD's files", () => {
  const article = {
    title: "Ada",
    paragraphs: [
      {
        context: "Ada wrote it in 1843.",
        qas: [
          { id: "a1", question: "Who?", answers: [{ text: "Ada", answer_start: 0 }] },
          { id: "a2", question: "Why?", answers: [], is_impossible: true },
        ],
      },
    ],
  };

  it.each([
    ["1.1", { data: [article], version: "1.1" }],
    ["2.0", { version: "v2.0", data: [article] }],
  ])("are read question by question, version %s", async (version, file) => {
    const path = await written(`squad-${version}.json`, JSON.stringify(file, null, 2));
    const [task] = await loadTasks(path, { limit: 1 });
    expect(task).toMatchObject({
      id: "a1",
      question: "Who?",
      references: ["Ada"],
      annotations: { context: [{ title: "Ada", text: "Ada wrote it in 1843." }] },
    });
    // Without an answer there is nothing to compare with: refused, not scored as wrong.
    await expect(loadTasks(path)).rejects.toThrow(
      errorWith("DATA_BAD_RECORD", `${path}: record 1, question 2: `),
    );
  });
});

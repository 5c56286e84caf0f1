/**
 * Seeded fuzz of tables and predictions files: what is written with known answers is read as these answers, or refused with a coded error; a
 * score of 1 is 1 and of 0 is 0. Nothing hangs, nothing is a bug of ours.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { AgentrlError, InternalError } from "../../src/base/errors.ts";
import { random as seeded, type Random } from "../../src/base/random.ts";
import { loadTasks } from "../../src/data/tasks.ts";
import { writeParquet } from "../../src/data/write-parquet.ts";
import { scoreLayouts } from "../../src/evaluate/score-file.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const CASES = 240;
const LIMIT_MS = 10_000;
const folder = temporaryFolder();

/** An answer: its JSON, and the text that it is. */
interface Answer {
  json: string;
  text: string;
}

interface Case {
  name: string;
  rows: { id: string; answers: Answer[] }[];
  random: Random;
}

function digits(random: Random, count: number): string {
  const all = Array.from({ length: count }, () => random.int(10)).join("");
  return all.replace(/^0+(?=.)/, "") || "0";
}

const TEXTS = [
  "Ada",
  "Müller",
  "日本",
  "😀 a",
  "O'Neil",
  'the "A"',
  "a, b",
  "x;y",
  "a|b",
  "007",
  "l\nm",
  "\t",
  "-",
  "[see]",
  "(a)",
  "true",
  "NaN",
  "1.0",
  "\u2028",
  "C:\\new",
];

function answerOf(random: Random): Answer {
  const number = digits(random, 1 + random.int(24));
  const kinds: (() => Answer)[] = [
    () => text(`${random.pick(TEXTS)} ${digits(random, 3)}`),
    () => text(random.pick(TEXTS.filter((each) => each.trim() !== ""))),
    () => ({ json: number, text: number }),
    () => ({ json: `-${number}.${digits(random, 3)}0`, text: "" }),
    () => ({ json: `${number}e${digits(random, 3)}`, text: "" }),
    () =>
      random.pick([
        { json: "true", text: "yes" },
        { json: "false", text: "no" },
      ]),
  ];
  const made = random.pick(kinds)();
  return made.text === "" ? { ...made, text: made.json } : made;
}

function text(value: string): Answer {
  return { json: JSON.stringify(value), text: value };
}

function python(value: string): string {
  const escaped = value.replaceAll("\\", "\\\\").replaceAll("'", "\\'").replaceAll("\n", "\\n");
  return `'${escaped.replaceAll("\t", "\\t")}'`;
}

function cell(value: string): string {
  return `"${value.replaceAll('"', '""')}"`;
}

const csv =
  (separator: string, end: string) =>
  ({ rows }: Case): string => {
    const lines = rows.map(({ id, answers }) =>
      [id, "q?", JSON.stringify(answers.map((answer) => answer.text))].map(cell).join(separator),
    );
    return [["id", "question", "answers"].join(separator), ...lines].join(end);
  };

const jsonl =
  (record: (row: Case["rows"][number]) => string, end = "\n") =>
  ({ rows }: Case): string =>
    rows.map(record).join(end);

const list = (answers: readonly Answer[]): string => `[${answers.map(({ json }) => json).join()}]`;
const row =
  (field: string, value: (answers: readonly Answer[]) => string) =>
  ({ id, answers }: Case["rows"][number]): string =>
    `{"id": ${id}, "question": "q?", "${field}": ${value(answers)}, "n": {"score": ${answers.length === 1 ? "0.5" : "1.0"}}}`;
const texts = (answers: readonly Answer[]): string[] => answers.map((answer) => answer.text);

/** Ways to write the same questions. */
const FORMS: Record<string, (made: Case) => string> = {
  "list.jsonl": jsonl(row("answers", list)),
  "cr.jsonl": jsonl(row("answers", list), "\r"),
  "flashrag.jsonl": jsonl(row("golden_answers", list)),
  "own.jsonl": jsonl(row("gold", list), "\r\n"),
  "json-text.jsonl": jsonl(row("answer", (all) => JSON.stringify(JSON.stringify(texts(all))))),
  "python-text.jsonl": jsonl(
    row("answer", (all) => JSON.stringify(`[${texts(all).map(python).join(", ")}]`)),
  ),
  "array.json": (made) => `[\n${jsonl(row("answers", list), ",\n")(made)}\n]`,
  "table.csv": csv(",", "\n"),
  "semicolons.csv": csv(";", "\r\n"),
  "mac.csv": csv(",", "\r"),
  "tabs.tsv": csv("\t", "\n"),
};

/** Ways to store or damage a file; a damaged one must be refused or read without the damage changing an answer. */
const STORED: Record<string, (bytes: Buffer, random: Random) => Buffer> = {
  plain: (bytes) => bytes,
  bom: (bytes) => Buffer.concat([Buffer.from("\uFEFF"), bytes]),
  gzip: (bytes) => gzipSync(bytes),
  utf16: (bytes) => Buffer.from(`\uFEFF${bytes.toString("utf8")}`, "utf16le"),
};
const DAMAGED: Record<string, (bytes: Buffer, random: Random) => Buffer> = {
  "cut gzip": (bytes) => gzipSync(bytes).subarray(0, -5),
  latin1: (bytes) => Buffer.from(`${bytes.toString("utf8")}ü`, "latin1"),
  "no mark": (bytes) => Buffer.from(bytes.toString("utf8"), "utf16le"),
  pointer: () => Buffer.from("version https://git-lfs.github.com/spec/v1\noid sha256:1\nsize 1\n"),
  "gzip twice": (bytes) => gzipSync(gzipSync(bytes)),
  noise: (_, random) => Buffer.from(Array.from({ length: 700 }, () => random.int(256))),
};

function caseOf(seed: number): Case {
  const random = seeded(seed);
  const base = 9_007_199_254_740_900n + BigInt(random.int(90));
  const rows = Array.from({ length: 1 + random.int(6) }, (_, i) => ({
    id: String(base + BigInt(i)),
    answers: Array.from({ length: 1 + random.int(3) }, () => answerOf(random)),
  }));
  return { name: `case-${seed}`, rows, random };
}

/** The result, or the error's code; fails where the error is a bug of ours or the work takes too long. */
async function coded<T>(work: Promise<T>): Promise<T | string> {
  const begun = performance.now();
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof AgentrlError) || error instanceof InternalError) throw error;
    return error.code;
  } finally {
    expect(performance.now() - begun).toBeLessThan(LIMIT_MS);
  }
}

describe.each(Array.from({ length: CASES }, (_, seed) => seed))("case %i", (seed) => {
  const made = caseOf(seed);
  const [form, write] = made.random.pick(Object.entries(FORMS));
  const bytes = Buffer.from(write(made));
  const expected = made.rows.map(({ id, answers }) => ({ id, references: texts(answers) }));
  const place = (name: string, content: Buffer): string => {
    const path = join(folder, `${seed}`, name);
    mkdirSync(join(folder, `${seed}`), { recursive: true });
    writeFileSync(path, content);
    return path;
  };

  it("is read as it was written", async () => {
    const [how, store] = made.random.pick(Object.entries(STORED));
    const path = place(form, store(bytes, made.random));
    const tasks = await loadTasks(path);
    expect(
      tasks.map(({ id, references }) => ({ id, references })),
      how,
    ).toEqual(expected);
  });

  it("is refused with a code where it is damaged", async () => {
    const [how, damage] = made.random.pick(Object.entries(DAMAGED));
    const found = await coded(loadTasks(place(form, damage(bytes, made.random))));
    expect(found, how).toBeTypeOf("string");
  });

  it("is scored as right and as wrong", async () => {
    const layout = scoreLayouts.get("answers", "--layout");
    const references = place(form, bytes);
    for (const suffix of ["", "0"]) {
      const lines = expected.map(({ id, references: [first = ""] }) =>
        JSON.stringify({ id, prediction: `${first}${suffix === "" ? "" : " zebra"}` }),
      );
      const predictions = place("predictions.jsonl", Buffer.from(lines.join("\n")));
      const scored = await coded(layout.score({ predictions, references, normalization: "squad" }));
      if (typeof scored === "string") throw new Error(scored);
      const blank = (text = ""): boolean =>
        /^\s*(?:[^\p{L}\p{N}]|\b(?:a|an|the)\b)*\s*$/iu.test(text);
      const ems = scored.rows.map(({ scores }) => scores["em"]);
      expect(ems.map((em, i) => (blank(expected[i]?.references[0]) ? null : em))).toEqual(
        expected.map(({ references: [first] }) => (blank(first) ? null : suffix === "" ? 1 : 0)),
      );
    }
  });

  it("survives Parquet", async () => {
    const path = join(folder, `${seed}.parquet`);
    const rows = made.rows.map(({ id, answers }) => ({
      id,
      question: "q?",
      answers: texts(answers),
    }));
    await writeParquet(path, () => rows);
    const tasks = await loadTasks(path);
    expect(tasks.map(({ id, references }) => ({ id, references }))).toEqual(expected);
  });
});

import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../src/base/errors.ts";
import { loadTasks } from "../../src/data/tasks.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

async function written(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

const lines = (...records: unknown[]): string => records.map((r) => JSON.stringify(r)).join("\n");

const HOTPOT = {
  _id: "5a8b",
  question: "Where was the author of The Tin Sea born?",
  answer: "Lodz",
  type: "bridge",
  level: "hard",
  supporting_facts: [
    ["The Tin Sea", 0],
    ["Ada Roth", 1],
  ],
  context: [
    ["The Tin Sea", ["The Tin Sea is a novel by Ada Roth.", " It is long."]],
    ["Lodz", ["Lodz is a city."]],
    ["Ada Roth", ["Ada Roth writes.", " She was born in Lodz."]],
  ],
};

describe("loadTasks reads", () => {
  it.each([
    { reward_model: { ground_truth: { target: ["Ada"] } }, extra_info: { question: "who?" } },
    { reward_model: { ground_truth: "Ada" }, extra_info: { question: "who?", index: 3 } },
    { reward_model: { ground_truth: ["Ada"] }, question: "who?", extra_info: null },
  ])("verl's rows as its own scripts write them: %j", async (row) => {
    const prompt = [{ role: "user", content: "Answer the question: who?" }];
    const path = await written(
      "verl-own.jsonl",
      lines({ data_source: "searchR1_nq", prompt, ...row }),
    );
    expect(await loadTasks(path)).toMatchObject([
      { question: "who?", references: ["Ada"], source: "nq" },
    ]);
    const bare = await written("bare.jsonl", lines({ prompt, reward_model: row.reward_model }));
    await expect(loadTasks(bare)).rejects.toThrow(errorWith("DATA_BAD_RECORD", "--question-field"));
  });

  it("HotpotQA's array, with gold passages found by title", async () => {
    const [task] = await loadTasks(await written("hotpot.json", JSON.stringify([HOTPOT], null, 1)));
    expect(task).toMatchObject({
      id: "5a8b",
      question: HOTPOT.question,
      references: ["Lodz"],
      source: "hotpot",
      annotations: {
        type: "bridge",
        hops: 2,
        supportingFacts: [
          { title: "The Tin Sea", sentence: 0 },
          { title: "Ada Roth", sentence: 1 },
        ],
      },
    });
    const context = task?.annotations.context ?? [];
    expect(context.map(({ text }) => text)).toEqual([
      "The Tin Sea is a novel by Ada Roth. It is long.",
      "Lodz is a city.",
      "Ada Roth writes. She was born in Lodz.",
    ]);
    expect(context[2]?.sentences).toEqual(["Ada Roth writes.", "She was born in Lodz."]);
    expect(task?.annotations.supportingPassages).toEqual([context[0]?.id, context[2]?.id]);
  });

  it("the same question in Hugging Face's columns as the same task", async () => {
    const columns = {
      ...HOTPOT,
      _id: undefined,
      id: "5a8b",
      supporting_facts: { title: ["The Tin Sea", "Ada Roth"], sent_id: [0, 1] },
      context: {
        title: HOTPOT.context.map(([title]) => title),
        sentences: HOTPOT.context.map(([, sentences]) => sentences),
      },
    };
    expect(await loadTasks(await written("hotpot.jsonl", lines(columns)))).toEqual(
      await loadTasks(await written("hotpot.json", JSON.stringify([HOTPOT]))),
    );
  });

  it("IRCoT's paragraphs, with several spans as accepted answers", async () => {
    const record = {
      question_id: "q9",
      question_text: "Who?",
      answers_objects: [{ number: "", spans: ["Ada", "Ada Roth", "Ada"] }],
      contexts: [
        { idx: 0, title: "A", paragraph_text: "a", is_supporting: false },
        { idx: 1, title: "B", paragraph_text: "b", is_supporting: true },
      ],
    };
    const [task] = await loadTasks(await written("p.jsonl", lines(record)));
    expect(task?.references).toEqual(["Ada", "Ada Roth"]);
    expect(task?.annotations.hops).toBe(1);
    expect(task?.annotations.supportingPassages).toEqual([task?.annotations.context?.[1]?.id]);
  });

  it("FlashRAG, packed or not", async () => {
    const record = { id: "test_0", question: "who?", golden_answers: ["a", "b"], metadata: {} };
    const expected = [
      { id: "test_0", question: "who?", references: ["a", "b"], source: "f", annotations: {} },
    ];
    expect(await loadTasks(await written("f.jsonl", lines(record)))).toEqual(expected);
    expect(await loadTasks(await written("f.jsonl.gz", gzipSync(lines(record))))).toEqual(expected);
  });

  it("plain questions, numbering those without an id and dropping blank aliases", async () => {
    const path = await written(
      "nq.test.jsonl",
      lines({ question: "a?", answer: "1" }, { question: "b?", answers: ["2", " ", "3"] }),
    );
    expect(await loadTasks(path)).toEqual([
      { id: "nq.test-1", question: "a?", references: ["1"], source: "nq.test", annotations: {} },
      {
        id: "nq.test-2",
        question: "b?",
        references: ["2", "3"],
        source: "nq.test",
        annotations: {},
      },
    ]);
  });

  it("our own layout without loss", async () => {
    const task = {
      id: "t",
      question: "q?",
      references: ["r"],
      source: "s",
      annotations: {
        type: "bridge",
        hops: 1,
        supportingPassages: ["p"],
        supportingFacts: [{ title: "P", sentence: 2 }],
        context: [{ id: "p", title: "P", text: "x. y.", sentences: ["x.", "y."] }],
        decomposition: [{ question: "q", answer: "r", passage: null }],
      },
    };
    expect(await loadTasks(await written("t.jsonl", lines(task)))).toEqual([task]);
  });

  it("only as many as asked for, and nothing beyond", async () => {
    const path = await written("cut.jsonl", `${lines({ question: "a?", answer: "1" })}\n{broken`);
    expect(await loadTasks(path, { limit: 1 })).toHaveLength(1);
    expect(await loadTasks(path, { limit: 0 })).toEqual([]);
  });
});

describe("loadTasks names file and line", () => {
  const refusal = async (code: ErrorCode, name: string, content: string): Promise<string> => {
    const path = await written(name, content);
    const error: unknown = await loadTasks(path).catch((e: unknown) => e);
    expect(error).toMatchObject({ code });
    return error instanceof Error ? error.message.replaceAll(folder, "") : "no error";
  };
  const good = lines({ question: "a?", answer: "1" });

  it("of a line that is no JSON", async () => {
    expect(await refusal("JSONL_BAD_LINE", "a.jsonl", `${good}\n{"question": "b?",\n`)).toMatch(
      /^\/a\.jsonl:2: is not JSON/,
    );
  });

  it("of a missing or empty answer", async () => {
    expect(await refusal("DATA_BAD_RECORD", "b.jsonl", `${good}\n\n{"question": "b?"}`)).toMatch(
      /^\/b\.jsonl:3: "answer" is missing: expected an accepted answer/,
    );
    expect(
      await refusal("DATA_BAD_RECORD", "c.jsonl", lines({ question: "b?", references: [] })),
    ).toMatch(/^\/c\.jsonl:1: "references" is \[\]: expected an accepted answer/);
  });

  it("of a blank question and of a line that is no object", async () => {
    expect(
      await refusal("DATA_BAD_RECORD", "d.jsonl", lines({ question: " ", answer: "x" })),
    ).toMatch(/^\/d\.jsonl:1: "question" is " ": expected non-blank text\./);
    expect(await refusal("DATA_BAD_RECORD", "e.jsonl", `${good}\n"text"`)).toMatch(
      /^\/e\.jsonl:2: is "text"; expected a JSON object\./,
    );
  });

  it("of two equal ids", async () => {
    const record = { id: "x", question: "a?", answer: "1" };
    expect(await refusal("DATA_ID_TWICE", "f.jsonl", lines(record, record))).toBe(
      '/f.jsonl:2: the id "x" is the same as in /f.jsonl:1; ids must be unique within a file. Rename one.',
    );
  });

  it("of a record of no known layout, with its fields and the flag", async () => {
    const message = await refusal("DATA_LAYOUT_UNKNOWN", "g.jsonl", lines({ prompt: "a", x: 1 }));
    expect(message).toMatch(/^\/g\.jsonl:1: .*prompt, x.*--answer-field/);
  });

  it("and of the record in a JSON array", async () => {
    const broken = JSON.stringify([HOTPOT, { ...HOTPOT, answer: {} }]);
    expect(await refusal("DATA_BAD_RECORD", "h.json", broken)).toMatch(
      /^\/h\.json: record 2: "answer" is {}: expected an accepted answer/,
    );
  });

  it("or the file alone when it is empty or absent", async () => {
    expect(await refusal("DATA_EMPTY", "i.jsonl", "\n")).toBe(
      "/i.jsonl: contains no records; at least one is required.",
    );
    await expect(loadTasks(join(folder, "none.jsonl"))).rejects.toThrow(
      errorWith("FILE_MISSING", "cannot be read"),
    );
  });
});

const shared = join(import.meta.dirname, "..", "..", "..", "shared", "data");

describe.skipIf(!existsSync(shared))("real files (skipped where ../shared/data is absent)", () => {
  it.each([
    ["hotpotqa/dev-500-paragraphs.jsonl", 500, 2],
    ["hotpotqa/dev-100-sentences.jsonl", 100, 2],
    ["2wikimultihopqa/dev-500-paragraphs.jsonl", 500, 2],
    ["hotpotqa/dev-7405-qa.json", 7405, 0],
    ["bamboogle/test-125.jsonl", 125, 0],
    ["nq/dpr.nq.test.jsonl", 3610, 0],
  ])("%s: %i questions", async (file, count, leastGold) => {
    const tasks = await loadTasks(join(shared, file));
    expect(tasks).toHaveLength(count);
    const gold = tasks.map((task) => task.annotations.supportingPassages?.length ?? 0);
    expect(Math.min(...gold)).toBe(leastGold);
  });
});

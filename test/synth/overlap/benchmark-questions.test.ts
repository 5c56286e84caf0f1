import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadTasks } from "../../../src/data/tasks.ts";
import { benchmarkQuestions } from "../../../src/synth/overlap/benchmark-questions.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { sharedData } from "../../helpers/search-texts.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const OPTIONS = { words: 8, share: 0.5 };
const folder = temporaryFolder();

function benchmarkOf(...questions: string[]) {
  const file = join(folder, "questions.jsonl");
  writeFileSync(
    file,
    questions.map((question) => JSON.stringify({ question, answer: "x" })).join("\n"),
  );
  return benchmarkQuestions([file], OPTIONS);
}

describe("a benchmark's question", () => {
  const question = "What is the place of birth of the director of film The Kid Sister (1945 film)?";

  it.each([
    ["what is the PLACE of birth of the director of film the kid sister 1945 film", "exact"],
    [`Question: ${question} Answer in one word.`, "near"],
    ["Where is the place of birth of the director of the film The Kid Sister (1945 film)?", "near"],
    ["What is the place of birth of the director of film The Big Sister (1945 film)?", null],
    ["What is the place of birth of the director of film The Kid Sister (1927 film)?", null],
    ["What is the date of birth of the director of film The Kid Sister (1945 film)?", null],
    ["What is the place of birth of the composer of film The Kid Sister (1945 film)?", null],
    ["Who directed The Kid Sister?", null],
  ])("is met or not in %j", async (asked, found) => {
    expect((await benchmarkOf(question)).meets(asked)).toBe(found);
  });

  it("without capitals is met only with all its words, for any may be a name", async () => {
    const benchmark = await benchmarkOf(
      "which magazine was started first arthurs or first for women",
    );
    expect(
      benchmark.meets("please: which magazine was started first, arthurs or first for women"),
    ).toBe("near");
    expect(
      benchmark.meets("please: which magazine was started first, harpers or first for women"),
    ).toBeNull();
  });

  it("is told the file that cannot be read", async () => {
    await expect(benchmarkQuestions(["missing.jsonl"], OPTIONS)).rejects.toThrow(
      errorWith("FILE_MISSING", "missing.jsonl"),
    );
  });
});

describe.skipIf(sharedData === null)("HotpotQA's dev questions (../shared)", () => {
  const file = join(sharedData ?? "", "hotpotqa/dev-7405-qa.json");

  it("are met as they stand and wrapped, and not by those of other datasets", async () => {
    const benchmark = await benchmarkQuestions([file], OPTIONS);
    const own = await loadTasks(file, { limit: 2000 });
    const missed = own.filter(({ question }) => {
      return (
        benchmark.meets(question) !== "exact" ||
        benchmark.meets(`Answer: ${question} Now.`) === null
      );
    });
    expect(missed).toEqual([]);
    for (const other of ["2wikimultihopqa/dev-500-paragraphs.jsonl", "nq/dpr.nq.test.jsonl"]) {
      const tasks = await loadTasks(join(sharedData ?? "", other));
      expect(tasks.filter(({ question }) => benchmark.meets(question) !== null)).toEqual([]);
    }
  });
});

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { acceptedAnswers } from "../../src/data/accepted-answers.ts";
import { checkFile } from "../../src/data/check-file.ts";
import { answerNotices, loadTasks } from "../../src/data/tasks.ts";
import { scoreLayouts } from "../../src/evaluate/score-file.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

async function file(name: string, content: string): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

/** One question with these accepted answers as JSON. */
function line(json: string, field = "answers"): string {
  return `{"question":"a?","${field}":${json}}\n`;
}

describe("a list within a text is read as that list", () => {
  it.each([
    ['["Ada", "Ada Roth"]', ["Ada", "Ada Roth"]],
    ["['Ada', \"Bob O'Neil\"]", ["Ada", "Bob O'Neil"]],
    ["['Ada',]", ["Ada"]],
    ["('Ada', 'Bob')", ["Ada", "Bob"]],
    ["['Oslo' 'Kristiania']", ["Oslo", "Kristiania"]],
    ["['a'\n 'b']", ["a", "b"]],
    ["array(['a', 'b'], dtype=object)", ["a", "b"]],
    ["['it\\'s', 'M\\xfcller', 'Z\\u00fcrich', 'a\\\\b']", ["it's", "Müller", "Zürich", "a\\b"]],
    ["['x', 9007199254740993, 1.0, True]", ["x", "9007199254740993", "1.0", "yes"]],
    ["[1990, 9007199254740993]", ["1990", "9007199254740993"]],
  ])("%s", (text, answers) => {
    expect(acceptedAnswers([text])).toMatchObject({ answers });
  });

  it.each(["[see note]", '("Weird Al" Yankovic)', "(a, b)", "[laughs], he said", "()"])(
    "but %s is a text",
    (text) => {
      expect(acceptedAnswers([text])).toMatchObject({ answers: [text] });
    },
  );

  it.each([
    "['Ada', ...]",
    "['Ada', None]",
    '[["Ada"]]',
    '[{"text": "Ada"}]',
    "{'text': ['Ada']}",
    '{"text": "Ada"}',
    "['a' 'b' ... 'z']",
  ])("and %s is refused", (text) => {
    expect(acceptedAnswers([text])).toHaveProperty("problem");
  });

  it("unless every text is one answer", () => {
    const text = "['Ada', 'Bob']";
    expect(acceptedAnswers([text], "none")).toMatchObject({ answers: [text] });
  });
});

it("splits texts at the given separator", () => {
  expect(acceptedAnswers(["Anna | Müller|", "B"], "|")).toMatchObject({
    answers: ["Anna", "Müller", "B"],
  });
  expect(acceptedAnswers(["a\nb"], "\\n")).toMatchObject({ answers: ["a", "b"] });
});

describe("in every layout and table", () => {
  it.each([
    ["py.jsonl", line(JSON.stringify("['Ada', 'Roth']"))],
    ["fr.jsonl", line(JSON.stringify('["Ada","Roth"]'), "golden_answers")],
    ["own.jsonl", line(JSON.stringify("['Ada', 'Roth']"), "gold")],
    ["refs.jsonl", line(`[${JSON.stringify("['Ada', 'Roth']")}]`, "references")],
    ["table.csv", "question,answer\na?,\"['Ada', 'Roth']\"\n"],
    ["dpr.qas.csv", "a?\t['Ada', 'Roth']\nb\t[\"Bob O'Neil\"]\n"],
  ])("%s", async (name, content) => {
    const [task] = await loadTasks(await file(name, content));
    expect(task?.references).toEqual(["Ada", "Roth"]);
  });

  it("numbers keep their text, booleans are yes and no", async () => {
    const path = await file("n.jsonl", line("[9007199254740993, 3.10, 1e3, true, false]"));
    const [task] = await loadTasks(path);
    expect(task?.references).toEqual(["9007199254740993", "3.10", "1e3", "yes", "no"]);
  });

  it("names the line of what is no answer", async () => {
    for (const json of ["\"{'text': 1}\"", '["a", null]', "[]", '"[]"', "{}", "1e", '[["a"]]']) {
      const reading = loadTasks(await file("bad.jsonl", line('"x"') + line(json)));
      await expect(reading).rejects.toThrow("bad.jsonl:2: ");
      await expect(reading).rejects.toMatchObject({ name: "DataError" });
    }
  });
});

describe("what looks like several answers raises a question", () => {
  it.each(["Anna|Müller", "a; b", "a\nb", "a\tb", "a / b", "Rome or Milan", "Lima、Oslo"])(
    "%j",
    async (answer) => {
      const path = await file("q.jsonl", line(JSON.stringify(answer)));
      const { notices, problems } = await checkFile(path);
      expect(problems).toEqual([]);
      expect(notices).toEqual([expect.stringContaining("--answer-separator")]);
      expect(notices[0]).toContain("q.jsonl:1");
      expect(await answerNotices(path)).toEqual(notices);
      expect(await answerNotices(path, { answerSeparator: "none" })).toEqual([]);
    },
  );

  it.each(["AT&amp;T", "Ada", "3.14", "x | y in a list"])("not %j", async (answer) => {
    const path = await file("n.jsonl", line(JSON.stringify([answer, "other"])));
    expect((await checkFile(path)).notices).toEqual([]);
  });

  it("so do numbers in brackets, floats and letters that were decoded wrongly", async () => {
    for (const answer of ["[0, 1]", "M\uFFFDller", "MÃ¼ller", "1999.0"]) {
      const path = await file("d.jsonl", line(JSON.stringify(answer)));
      expect((await checkFile(path)).notices).toHaveLength(1);
    }
  });

  it("in score, too, which splits at the separator", async () => {
    const predictions = await file(
      "p.jsonl",
      '{"prediction":"Müller","references":"Anna|Müller"}\n',
    );
    const layout = scoreLayouts.get("answers", "--layout");
    const asked = await layout.score({ predictions });
    expect(asked.notes).toEqual([expect.stringContaining('--answer-separator "|"')]);
    expect(asked.rows[0]?.scores["em"]).toBe(0);
    const split = await layout.score({ predictions, answerSeparator: "|" });
    expect(split.notes).toEqual([]);
    expect(split.rows[0]?.scores["em"]).toBe(1);
  });
});

describe("score", () => {
  const layout = scoreLayouts.get("answers", "--layout");

  it("tells whole numbers above 2^53 apart, as answers and as ids", async () => {
    const [a, b] = ["9007199254740992", "9007199254740993"];
    const row = (id: string, text: string): string =>
      `{"id":${id},"prediction":"${text}","gold":[${b}]}\n`;
    const { rows } = await layout.score({
      predictions: await file("big.jsonl", row(a, a) + row(b, b)),
    });
    expect(rows.map(({ id, scores }) => [id, scores["em"]])).toEqual([
      [a, 0],
      [b, 1],
    ]);
  });

  it("reads true as yes, in predictions and references", async () => {
    const content =
      '{"prediction":true,"references":["yes"]}\n{"prediction":"no","references":[false]}\n';
    const { rows } = await layout.score({
      predictions: await file("b.jsonl", content),
      normalization: "squad",
    });
    expect(rows.map(({ scores }) => scores["em"])).toEqual([1, 1]);
  });

  it("refuses an id that occurs twice, also without a references file", async () => {
    const row = '{"id":"1","prediction":"a","references":["a"]}\n';
    const twice = await file("twice.jsonl", row + row);
    await expect(layout.score({ predictions: twice })).rejects.toThrow(
      errorWith("PREDICTIONS_UNMATCHED", "twice.jsonl:2"),
    );
    const same =
      '{"id":1,"prediction":"a","references":["a"]}\n{"id":1.0,"prediction":"b","references":["a"]}\n';
    await expect(layout.score({ predictions: await file("same.jsonl", same) })).rejects.toThrow(
      errorWith("PREDICTIONS_UNMATCHED"),
    );
  });
});

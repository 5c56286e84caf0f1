import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { checkFile } from "../../src/data/check-file.ts";
import { taskLayouts } from "../../src/data/layouts/index.ts";
import type { TaskLayout } from "../../src/data/layouts/layout.ts";
import type { JsonRecord } from "../../src/data/layouts/record.ts";
import { loadTasks } from "../../src/data/tasks.ts";
import { tinyWorld } from "../../src/data/tinyworld/tiny-world.ts";
import type { Task, TaskAnnotations } from "../../src/trajectory/task.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

/** A record as each dataset publishes it, the task that it is, and how to take its answers away. */
interface Example {
  record: JsonRecord;
  task: Partial<Task> & { annotations?: TaskAnnotations };
  /** Absent where an answer cannot be empty. */
  unanswered: JsonRecord;
}

const fact = (title: string, sentence: number) => ({ title, sentence });
const common = { question: "Who wrote it?" };
const context = [
  ["The Tin Sea", ["The Tin Sea is a novel.", " Ada Roth wrote it."]],
  ["Lodz", ["Lodz is a city."]],
];
const trainerRow = { id: "r1", prompt: [{ role: "user", content: "Answer: Who wrote it?" }] };

const examples: Record<string, Example> = {
  trl: {
    record: { ...trainerRow, ...common, references: ["Ada"], source: "nq" },
    task: { id: "r1", references: ["Ada"], source: "nq" },
    unanswered: { references: [] },
  },
  verl: {
    record: {
      ...{ ...trainerRow, ...common, data_source: "searchR1_nq", golden_answers: ["Ada"] },
      reward_model: { style: "rule", ground_truth: { target: ["Ada", "Ada Roth"] } },
    },
    task: { id: "r1", references: ["Ada", "Ada Roth"], source: "nq" },
    unanswered: { reward_model: { ground_truth: { target: [] } } },
  },
  agentrl: {
    record: { id: 7, ...common, references: ["Ada"], annotations: { facts: ["f"], hops: 2 } },
    task: { id: "7", references: ["Ada"], annotations: { facts: ["f"], hops: 2 } },
    unanswered: { references: [" "] },
  },
  flashrag: {
    record: {
      ...{ id: "test_0", ...common, golden_answers: ["Ada"] },
      metadata: { type: "bridge", supporting_facts: { title: ["A"], sent_id: [1] }, context: 3 },
    },
    task: {
      ...{ id: "test_0", references: ["Ada"] },
      annotations: { type: "bridge", supportingFacts: [fact("A", 1)], hops: 1 },
    },
    unanswered: { golden_answers: [] },
  },
  paragraphs: {
    record: {
      ...{ question_id: "q9", question_text: "Who wrote it?" },
      answers_objects: [{ spans: ["Ada", "Ada Roth"] }],
    },
    task: { id: "q9", references: ["Ada", "Ada Roth"] },
    unanswered: { answers_objects: [] },
  },
  musique: {
    record: {
      ...{ id: "2hop__1_2", ...common, answer: "Ada", answer_aliases: ["Ada Roth", "Ada"] },
      paragraphs: [
        { idx: 0, title: "Lodz", paragraph_text: "Lodz is a city.", is_supporting: false },
        { idx: 1, title: "B", paragraph_text: "b", is_supporting: true },
        { idx: 2, title: "A", paragraph_text: "a", is_supporting: true },
      ],
      question_decomposition: [
        { id: 1, question: "What is it?", answer: "The Tin Sea", paragraph_support_idx: 2 },
        { id: 2, question: "#1 >> author", answer: "Ada", paragraph_support_idx: 1 },
      ],
      answerable: true,
    },
    task: {
      ...{ id: "2hop__1_2", references: ["Ada", "Ada Roth"] },
      annotations: {
        ...{ type: "2hop", hops: 2 },
        // In the order of the steps, not of the paragraphs.
        supportingPassages: ["p-5781569f7028c3ef", "p-1babfc8e9033664a"],
        decomposition: [
          { question: "What is it?", answer: "The Tin Sea", passage: "p-5781569f7028c3ef" },
          { question: "#1 >> author", answer: "Ada", passage: "p-1babfc8e9033664a" },
        ],
      },
    },
    unanswered: { answer: "" },
  },
  "2wikimultihopqa": {
    record: {
      ...{ _id: "w1", ...common, answer: "Ada", type: "compositional", context },
      supporting_facts: [["The Tin Sea", 1]],
      evidences: [["The Tin Sea", "author", "Ada Roth"]],
      answer_id: "Q1",
    },
    task: {
      ...{ id: "w1", references: ["Ada"] },
      annotations: {
        ...{ type: "compositional", supportingFacts: [fact("The Tin Sea", 1)] },
        evidences: [{ subject: "The Tin Sea", relation: "author", object: "Ada Roth" }],
      },
    },
    unanswered: { answer: " " },
  },
  popqa: {
    record: { id: 4222362, ...common, prop: "author", possible_answers: '["Ada", "Ada Roth"]' },
    task: { id: "4222362", references: ["Ada", "Ada Roth"], annotations: { type: "author" } },
    unanswered: { possible_answers: "[]" },
  },
  triviaqa: {
    record: {
      ...{ QuestionId: "tc_33", Question: "Who wrote it?" },
      Answer: { Value: "Ada", Aliases: ["Ada Roth", "Ada"], NormalizedAliases: ["ada roth"] },
    },
    task: { id: "tc_33", references: ["Ada", "Ada Roth"] },
    unanswered: { Answer: { Value: "" } },
  },
  webquestions: {
    record: {
      utterance: "Who wrote it?",
      targetValue: '(list (description "Ada \\"A\\" Roth") (description Ada))',
    },
    task: { references: ['Ada "A" Roth', "Ada"] },
    unanswered: { targetValue: "(list)" },
  },
  fever: {
    record: {
      ...{ id: 75397, claim: "Who wrote it?", label: "SUPPORTS" },
      evidence: [
        [
          [1, 2, "Ada_Roth", 7],
          [1, 2, "The_Tin_Sea_-LRB-novel-RRB-", 0],
        ],
        [[1, 3, "The_Tin_Sea_-LRB-novel-RRB-", 4]],
        [[1, null, null, null]],
      ],
    },
    task: {
      ...{ id: "75397", references: ["SUPPORTS"] },
      annotations: { hops: 1, supportingFacts: [fact("The Tin Sea (novel)", 4)] },
    },
    unanswered: { label: undefined },
  },
  beir: {
    record: {
      ...{ _id: "5a8b", text: "Who wrote it?" },
      metadata: { answer: "Ada", supporting_facts: [["A", 0]] },
    },
    task: { id: "5a8b", references: ["Ada"], annotations: { supportingFacts: [fact("A", 0)] } },
    unanswered: { metadata: {} },
  },
  strategyqa: {
    record: {
      ...{ qid: "872b", ...common, answer: true, term: "Sea", facts: ["The sea is tin."] },
      decomposition: ["Is it tin?", "Is #1 true?"],
    },
    task: {
      ...{ id: "872b", references: ["yes"] },
      annotations: {
        ...{ type: "yes-no", hops: 2, facts: ["The sea is tin."] },
        decomposition: [
          { question: "Is it tin?", answer: "", passage: null },
          { question: "Is #1 true?", answer: "", passage: null },
        ],
      },
    },
    unanswered: { answer: "" },
  },
  hotpotqa: {
    record: { _id: "5a8b", ...common, answer: "Ada", type: "bridge", level: "hard", context },
    task: { id: "5a8b", references: ["Ada"], annotations: { type: "bridge" } },
    unanswered: { answer: "" },
  },
  plain: {
    record: { id: "1", ...common, answers: ["Ada", ""] },
    task: { id: "1", references: ["Ada"] },
    unanswered: { answers: [] },
  },
};

const folder = temporaryFolder();
const world = tinyWorld({ seed: 1, split: "dev", people: 200 });
const bare: Task = {
  id: "b",
  question: "b?",
  references: ["x", "y"],
  source: "nq",
  annotations: {},
};
const rich: Task = {
  ...bare,
  id: "rich",
  annotations: {
    evidences: [{ subject: "a", relation: "r", object: "b" }],
    searchTerms: [["r of a", "a r"]],
    facts: ["f"],
    context: [{ id: "p", title: "P", text: "x." }],
    supportingPassages: ["p"],
    supportingFacts: [fact("P", 0)],
    hops: 1,
  },
};
const worldTasks = [...world.questions(20, { distractors: 5 })];

async function written(name: string, records: readonly object[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, records.map((record) => JSON.stringify(record)).join("\n"));
  return path;
}

/** What a layout says that it keeps, of a task. A context's sentences are HotpotQA's and ours alone. */
function kept({ annotations, source, ...task }: Task, layout: TaskLayout): unknown {
  const { keeps = [], keepsSource = false } = layout.write ?? {};
  const entries = Object.entries(annotations).filter(([key]) => keeps.some((name) => name === key));
  return {
    ...task,
    source: keepsSource ? source : "",
    annotations: Object.fromEntries(
      entries.map(([key, value]) => [key, key === "context" ? textsOf(annotations) : value]),
    ),
  };
}

function textsOf({ context = [] }: TaskAnnotations): unknown[] {
  return context.map(({ id, title, text }) => ({ id, title, text }));
}

it("has an example of every layout", () => {
  expect(Object.keys(examples).sort()).toEqual([...taskLayouts.names].sort());
});

describe.each(taskLayouts.parts.map((layout) => [layout.name, layout] as const))(
  "layout %s",
  (name, layout) => {
    const { record, task, unanswered } = examples[name]!;

    it("is the one that its own records are read with", () => {
      expect(taskLayouts.parts.find((each) => each.fits(record))?.name).toBe(name);
    });

    it("reads a published record: id, question, every accepted answer, what else is known", () => {
      const { id, question, references, source, annotations } = layout.read(record, "f:1");
      expect({ id, question, references, source }).toEqual({
        ...{ id: task.id, question: "Who wrote it?", references: task.references },
        source: task.source,
      });
      expect(annotations).toMatchObject(task.annotations ?? {});
      expect(Object.values(annotations)).not.toContain(undefined);
    });

    it("refuses a record without an answer, naming its place", () => {
      expect(() => layout.read({ ...record, ...unanswered }, "dev.jsonl:214")).toThrow(
        errorWith("DATA_BAD_RECORD", /^dev\.jsonl:214: /),
      );
    });

    it("refuses a blank question", () => {
      const key = ["question", "question_text", "Question", "utterance", "claim", "text"].find(
        (each) => each in record,
      )!;
      expect(() => layout.read({ ...record, [key]: " " }, "f:3")).toThrow(
        errorWith("DATA_BAD_RECORD", `f:3: "${key}" is " ": expected text that is not blank.`),
      );
    });

    it("gives each record of a file an id of its own, packed or not", async () => {
      const idKeys = ["id", "_id", "question_id", "QuestionId", "qid"].filter(
        (key) => key in record,
      );
      const records = [0, 1, 2].map((i) => ({
        ...record,
        ...Object.fromEntries(idKeys.map((key) => [key, `${i}`])),
      }));
      const path = await written(`ids-${name}.jsonl`, records);
      const ids = (await loadTasks(path)).map(({ id }) => id);
      const source = `ids-${name}`;
      expect(ids).toEqual(
        idKeys.length === 0 ? [`${source}-1`, `${source}-2`, `${source}-3`] : ["0", "1", "2"],
      );
      await writeFile(
        `${path}.gz`,
        gzipSync(records.map((each) => JSON.stringify(each)).join("\n")),
      );
      expect(await loadTasks(`${path}.gz`)).toEqual(await loadTasks(path));
    });

    it("has every bad line of a file listed", async () => {
      const broken = { ...record, ...unanswered };
      const path = await written(`check-${name}.jsonl`, [record, broken, broken]);
      const report = await checkFile(path);
      expect(report).toMatchObject({ kind: "questions", layout: name, records: 3 });
      expect(report.problems.map((problem) => problem.slice(path.length, path.length + 3))).toEqual(
        [":2:", ":3:"],
      );
    });

    it.skipIf(layout.write === undefined)("gives back what it says that it keeps", async () => {
      for (const [i, tasks] of [worldTasks, [bare, rich]].entries()) {
        const records = tasks.map((each, index) =>
          layout.write!.record(each, { index, split: "dev", prompt: each.question }),
        );
        const read = await loadTasks(await written(`round-${name}-${i}.jsonl`, records));
        expect(read.map((each) => kept(each, layout))).toEqual(
          tasks.map((each) => kept(each, layout)),
        );
      }
    });
  },
);

const shared = join(import.meta.dirname, "..", "..", "..", "shared", "data");

describe.skipIf(!existsSync(shared))("real files (skipped where ../shared/data is absent)", () => {
  it.each([
    ["hotpotqa/dev-500-paragraphs.jsonl", "paragraphs", 500, 500],
    ["hotpotqa/dev-100-sentences.jsonl", "hotpotqa", 100, 100],
    ["hotpotqa/dev-7405-qa.json", "hotpotqa", 7405, 7405],
    ["2wikimultihopqa/dev-500-paragraphs.jsonl", "paragraphs", 500, 506],
    ["bamboogle/test-125.jsonl", "paragraphs", 125, 139],
    ["nq/dpr.nq.test.jsonl", "plain", 3610, 9616],
    // Answers as counted by a few lines of Python: distinct spans, or answers that are not blank.
  ])("%s: layout %s, %i questions, %i answers, none bad", async (file, layout, count, answers) => {
    const path = join(shared, file);
    expect(await checkFile(path)).toEqual({
      ...{ kind: "questions", layout, records: count, problems: [] },
    });
    const tasks = await loadTasks(path);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(count);
    expect(tasks.reduce((sum, { references }) => sum + references.length, 0)).toBe(answers);
  });
});

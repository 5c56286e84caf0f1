import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { checkFile } from "../../src/data/check-file.ts";
import { questionFile } from "../../src/data/file-layout.ts";
import { taskLayouts } from "../../src/data/layouts/index.ts";
import type { TaskLayout } from "../../src/data/layouts/layout.ts";
import { loadTasks } from "../../src/data/tasks.ts";
import { tinyWorld } from "../../src/worlds/tiny/tiny-world.ts";
import type { Task, TaskAnnotations } from "../../src/trajectory/task.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

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
    ofTheirOwn: { rank: 3 },
    context: [{ id: "p", title: "P", text: "x." }],
    supportingPassages: ["p"],
    supportingFacts: [{ title: "P", sentence: 0 }],
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
  const entries = Object.entries(annotations).filter(
    ([key]) => keeps === "all" || keeps.includes(key),
  );
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

describe.each(taskLayouts.parts.map((layout) => [layout.name, layout] as const))(
  "layout %s",
  (name, layout) => {
    const { record, task, unanswered } = layout.example!;
    const [question] = Object.keys(record).filter((key) => record[key] === "Who wrote it?");
    // With the lists that stand within a text unpacked.
    const file = questionFile({ record, where: "f:1", number: 1 });
    const idKeys = Object.keys(record).filter((key) => String(record[key]) === task.id);

    it("is the one that its own records are read with", () => {
      expect(taskLayouts.parts.find((each) => each.fits(record))?.name).toBe(name);
    });

    it("reads a published record: id, question, every accepted answer, what else is known", () => {
      const { id, question, references, source, annotations } = file.read(record, "f:1");
      expect({ id, question, references, source }).toEqual({
        id: task.id,
        question: "Who wrote it?",
        references: task.references,
        source: task.source,
      });
      expect(annotations).toMatchObject(task.annotations ?? {});
      expect(Object.values(annotations)).not.toContain(undefined);
    });

    it("refuses a record without an answer, naming its place", () => {
      expect(() => file.read({ ...record, ...unanswered }, "dev.jsonl:214")).toThrow(
        errorWith("DATA_BAD_RECORD", /^dev\.jsonl:214: /),
      );
    });

    it("refuses a blank question", () => {
      expect(() => layout.read({ ...record, [question!]: " " }, "f:3")).toThrow(
        errorWith("DATA_BAD_RECORD", `f:3: "${question}" is " ": `),
      );
    });

    it("gives each record of a file an id of its own, packed or not", async () => {
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
    expect(await checkFile(path)).toMatchObject({
      kind: "questions",
      layout,
      records: count,
      problems: [],
    });
    const tasks = await loadTasks(path);
    expect(new Set(tasks.map(({ id }) => id)).size).toBe(count);
    expect(tasks.reduce((sum, { references }) => sum + references.length, 0)).toBe(answers);
  });
});

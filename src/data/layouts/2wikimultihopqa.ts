import { z } from "../../base/schema.ts";
import { hotpotColumns, hotpotSchema, hotpotTask } from "./hotpotqa.ts";
import type { TaskLayout } from "./layout.ts";
import { parseRecord } from "./record.ts";

const triples = z.array(z.tuple([z.string(), z.string(), z.string()]));
const columns = z.object({
  fact: z.array(z.string()),
  relation: z.array(z.string()),
  entity: z.array(z.string()),
});

const schema = hotpotSchema.extend({
  evidences: z
    .union([
      triples,
      columns.transform(({ fact, relation, entity }) =>
        fact.map((subject, i) => [subject, relation[i] ?? "", entity[i] ?? ""] as const),
      ),
    ])
    .optional(),
});

/** 2WikiMultihopQA: HotpotQA's keys and triples as evidence. Names of an answer's entity lie in another file, `id_aliases.json`. */
export const wikiMultihop: TaskLayout = {
  name: "2wikimultihopqa",
  summary: "HotpotQA's keys, evidences[][subject, relation, object]",
  example: {
    record: {
      _id: "w1",
      question: "Who wrote it?",
      answer: "Ada",
      type: "compositional",
      context: [
        ["The Tin Sea", ["The Tin Sea is a novel.", " Ada Roth wrote it."]],
        ["Lodz", ["Lodz is a city."]],
      ],
      supporting_facts: [["The Tin Sea", 1]],
      evidences: [["The Tin Sea", "author", "Ada Roth"]],
      answer_id: "Q1",
    },
    task: {
      id: "w1",
      references: ["Ada"],
      annotations: {
        type: "compositional",
        supportingFacts: [{ title: "The Tin Sea", sentence: 1 }],
        evidences: [{ subject: "The Tin Sea", relation: "author", object: "Ada Roth" }],
      },
    },
    unanswered: { answer: " " },
  },
  fits: (record) => "question" in record && "answer" in record && "evidences" in record,
  read: (record, where) => {
    const found = parseRecord(schema, record, where);
    const task = hotpotTask(found);
    const evidences = found.evidences?.map(([subject, relation, object]) => ({
      ...{ subject, relation, object },
    }));
    if (evidences === undefined || evidences.length === 0) return task;
    return { ...task, annotations: { ...task.annotations, evidences } };
  },
  write: {
    keeps: ["type", "hops", "supportingPassages", "supportingFacts", "context", "evidences"],
    keepsSource: true,
    record: (task) => ({
      ...hotpotColumns(task),
      evidences: (task.annotations.evidences ?? []).map(({ subject, relation, object }) => [
        subject,
        relation,
        object,
      ]),
    }),
  },
};

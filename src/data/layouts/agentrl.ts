import { z } from "../../base/schema.ts";
import {
  defineLayout,
  answerList,
  count,
  filledText,
  holdsAnswer,
  idText,
  parseRecord,
} from "./layout.ts";

const passageSchema = z.object({
  id: idText,
  title: z.string().default(""),
  text: z.string(),
  sentences: z.array(z.string()).optional(),
  source: z.string().optional(),
});

const beirSchema = passageSchema.omit({ id: true }).extend({ _id: idText });

const stepsSchema = z.array(
  z.object({
    question: z.string(),
    answer: z.string(),
    passage: z.string().nullable().default(null),
    expression: z.string().optional(),
  }),
);

const annotationsSchema = z.looseObject({
  type: z.string().optional(),
  hops: count.optional(),
  level: count.optional(),
  supportingPassages: z.array(z.string()).optional(),
  supportingFacts: z.array(z.object({ title: z.string(), sentence: count })).optional(),
  context: z.array(passageSchema).optional(),
  decomposition: stepsSchema.optional(),
  routes: z.array(stepsSchema).optional(),
  concepts: z.array(z.string()).optional(),
  stratum: z.string().optional(),
  duplicateOf: z.string().optional(),
  searchTerms: z.array(z.array(z.string())).optional(),
  evidences: z
    .array(z.object({ subject: z.string(), relation: z.string(), object: z.string() }))
    .optional(),
  facts: z.array(z.string()).optional(),
  answerable: z.boolean().optional(),
  route: z.array(z.string()).optional(),
});

const taskSchema = z.object({
  id: idText.optional(),
  question: filledText,
  references: answerList,
  source: z.string().optional(),
  annotations: annotationsSchema.optional(),
});

/** Our own layout: all fields of a task. */
export const agentrlTasks = defineLayout({
  holds: "questions",
  name: "agentrl",
  summary: "question, references[], annotations: lossless",
  example: {
    record: {
      id: 7,
      question: "Who wrote it?",
      references: ["Ada"],
      annotations: { facts: ["f"], hops: 2 },
    },
    task: { id: "7", references: ["Ada"], annotations: { facts: ["f"], hops: 2 } },
    unanswered: { references: [" "] },
  },
  fits: (record) => "references" in record && "question" in record,
  read: (record, where) => parseRecord(taskSchema, record, where),
  write: {
    keeps: "all",
    keepsSource: true,
    record: ({ id, question, references, source, annotations }) => ({
      id,
      question,
      references,
      source,
      annotations,
    }),
  },
});

/** Our own layout, and that of most retrieval collections: id, title, text. */
export const agentrlCorpus = defineLayout({
  holds: "passages",
  name: "agentrl",
  summary: "id, title, text (also reads BEIR's _id)",
  fits: (record) =>
    "text" in record && ("id" in record || "_id" in record) && !holdsAnswer(record["metadata"]),
  read: (record, where) => {
    if ("id" in record) {
      const { id, title, text, source } = parseRecord(passageSchema, record, where);
      return { id, title, text, source };
    }
    const { _id, title, text } = parseRecord(beirSchema, record, where);
    return { id: _id, title, text };
  },
  write: ({ id, title, text, source }) => ({ id, title, text, source }),
});

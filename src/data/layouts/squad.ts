import { z } from "../../base/schema.ts";
import {
  badRecord,
  contextPassage,
  distinct,
  filledText,
  idText,
  type JsonRecord,
  parseRecord,
  defineLayout,
} from "./layout.ts";

const schema = z.object({
  id: idText.optional(),
  title: z.string().default(""),
  context: z.string().optional(),
  question: filledText,
  answers: z.object({ text: z.array(z.string()) }),
});

/** SQuAD and datasets in its form: rows of the hub, and the questions of published files (see `articleQuestions`). */
export const squad = defineLayout({
  holds: "questions",
  name: "squad",
  summary: "question, answers.text[], context; data[].paragraphs[].qas[]",
  example: {
    record: {
      id: "5733be28",
      title: "Ada",
      context: "Ada wrote it.",
      question: "Who wrote it?",
      answers: { text: ["Ada", "Ada", "Ada Roth"], answer_start: [0, 0, 0] },
    },
    task: { id: "5733be28", references: ["Ada", "Ada Roth"] },
    unanswered: { answers: { text: [], answer_start: [] } },
  },
  fits: (record) => "question" in record && textsIn(record["answers"]),
  read: (record, where) => {
    const { id, title, context, question, answers } = parseRecord(schema, record, where);
    const references = distinct(answers.text);
    if (references.length === 0)
      throw badRecord(
        `${where}: "answers.text" has no accepted answer. Questions without an answer (SQuAD 2.0) can only be scored: \`agentrl score --layout squad_v2\`.`,
      );
    if (context === undefined) return { id, question, references, annotations: {} };
    const passage = contextPassage(title, [context]);
    const annotations = { context: [passage], supportingPassages: [passage.id] };
    return { id, question, references, annotations };
  },
});

function textsIn(answers: unknown): boolean {
  return (
    typeof answers === "object" &&
    answers !== null &&
    "text" in answers &&
    Array.isArray(answers.text)
  );
}

const article = z.object({
  title: z.string().default(""),
  paragraphs: z.array(
    z.object({
      context: z.string().optional(),
      qas: z.array(z.looseObject({ answers: z.array(z.object({ text: z.string() })).optional() })),
    }),
  ),
});

/** The questions of one article of a file as SQuAD publishes it, as rows of the hub; null for another value. */
export function articleQuestions(value: unknown): JsonRecord[] | null {
  const { success, data } = article.safeParse(value);
  if (!success) return null;
  return data.paragraphs.flatMap(({ context, qas }) =>
    qas.map(({ answers = [], ...question }) => ({
      ...question,
      title: data.title,
      context,
      answers: { text: answers.map(({ text }) => text) },
    })),
  );
}

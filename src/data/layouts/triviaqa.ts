import { z } from "../../base/schema.ts";
import type { TaskLayout } from "./layout.ts";
import { badRecord, distinct, filledText, idText, parseRecord } from "./record.ts";

const published = z.object({
  QuestionId: idText.optional(),
  Question: filledText,
  Answer: z.object({
    Value: z.string(),
    Aliases: z.array(z.string()).default([]),
    HumanAnswers: z.array(z.string()).default([]),
  }),
});

const columns = z.object({
  question_id: idText.optional(),
  question: filledText,
  answer: z.object({ value: z.string(), aliases: z.array(z.string()).default([]) }),
});

/** TriviaQA, as published (`Data` of an object) or as columns: value, aliases and people's answers are all accepted. */
export const triviaqa: TaskLayout = {
  name: "triviaqa",
  summary: "QuestionId, Question, Answer.{Value, Aliases[], …}",
  example: {
    record: {
      QuestionId: "tc_33",
      Question: "Who wrote it?",
      Answer: { Value: "Ada", Aliases: ["Ada Roth", "Ada"], NormalizedAliases: ["ada roth"] },
    },
    task: { id: "tc_33", references: ["Ada", "Ada Roth"] },
    unanswered: { Answer: { Value: "" } },
  },
  fits: (record) => "Question" in record || ("question_id" in record && "answer" in record),
  read: (record, where) => {
    if (!("Question" in record)) {
      const { question_id: id, question, answer } = parseRecord(columns, record, where);
      const references = answers(where, answer.value, ...answer.aliases);
      return { id, question, references, annotations: {} };
    }
    const { QuestionId, Question, Answer } = parseRecord(published, record, where);
    const { Value, Aliases, HumanAnswers } = Answer;
    const references = answers(where, Value, ...Aliases, ...HumanAnswers);
    return { id: QuestionId, question: Question, references, annotations: {} };
  },
};

function answers(where: string, ...found: string[]): string[] {
  const references = distinct(found);
  if (references.length > 0) return references;
  throw badRecord(
    `${where}: "Answer" holds no text that is not blank; at least one accepted answer is needed.`,
  );
}

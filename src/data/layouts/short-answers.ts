import { z } from "../../base/schema.ts";
import {
  defineLayout,
  answerList,
  filledText,
  idText,
  parseRecord,
  badRecord,
  distinct,
} from "./layout.ts";

const common = { id: idText.optional(), question: filledText };
const one = z.object({ ...common, answer: answerList });
const several = z.object({ ...common, answers: answerList });

/** A question with its answer or answers: NQ-open and most handmade files. */
export const plain = defineLayout({
  holds: "questions",
  name: "plain",
  summary: "question, answer or answers[], optional id",
  example: {
    record: { id: "1", question: "Who wrote it?", answers: ["Ada", ""] },
    task: { id: "1", references: ["Ada"] },
    unanswered: { answers: [] },
  },
  fits: (record) => "question" in record && ("answer" in record || "answers" in record),
  read: (record, where) => {
    if ("answers" in record) {
      const { id, question, answers } = parseRecord(several, record, where);
      return { id, question, references: answers, annotations: {} };
    }
    const { id, question, answer } = parseRecord(one, record, where);
    return { id, question, references: answer, annotations: {} };
  },
  write: {
    keeps: [],
    keepsSource: false,
    record: ({ id, question, references }) => ({ id, question, answers: references }),
  },
});

const popqaSchema = z.object({
  id: idText.optional(),
  question: filledText,
  possible_answers: answerList,
  prop: z.string().optional(),
});

/** PopQA, a table or JSON lines: the accepted answers are a JSON list inside a text. The relation is the type. */
export const popqa = defineLayout({
  holds: "questions",
  name: "popqa",
  summary: "id, question, possible_answers (JSON within text), prop",
  example: {
    record: {
      id: 4222362,
      question: "Who wrote it?",
      prop: "author",
      possible_answers: '["Ada", "Ada Roth"]',
    },
    task: { id: "4222362", references: ["Ada", "Ada Roth"], annotations: { type: "author" } },
    unanswered: { possible_answers: "[]" },
  },
  fits: (record) => "possible_answers" in record,
  read: (record, where) => {
    const { id, question, possible_answers, prop } = parseRecord(popqaSchema, record, where);
    return { id, question, references: possible_answers, annotations: { type: prop } };
  },
});

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

/** TriviaQA, as published (`Data` of an object) or as columns: accepts value, aliases and human answers. */
export const triviaqa = defineLayout({
  holds: "questions",
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
});

function answers(where: string, ...found: string[]): string[] {
  const references = distinct(found);
  if (references.length > 0) return references;
  throw badRecord(
    `${where}: "Answer" has only blank texts; at least one accepted answer is required.`,
  );
}

const webquestionsSchema = z.object({ utterance: filledText, targetValue: z.string() });

/** WebQuestions as published: answers as `(list (description "A B") (description C))`. */
export const webquestions = defineLayout({
  holds: "questions",
  name: "webquestions",
  summary: "utterance, targetValue: (list (description …) …)",
  example: {
    record: {
      utterance: "Who wrote it?",
      targetValue: '(list (description "Ada \\"A\\" Roth") (description Ada))',
    },
    task: { references: ['Ada "A" Roth', "Ada"] },
    unanswered: { targetValue: "(list)" },
  },
  fits: (record) => "utterance" in record && "targetValue" in record,
  read: (record, where) => {
    const { utterance, targetValue } = parseRecord(webquestionsSchema, record, where);
    const references = distinct(
      [...targetValue.matchAll(DESCRIPTION)].map(([, quoted, bare = ""]) =>
        quoted === undefined ? bare.trim() : quoted.replaceAll(/\\(.)/g, "$1"),
      ),
    );
    if (references.length === 0)
      throw badRecord(
        `${where}: "targetValue" is ${JSON.stringify(targetValue)}; it contains no (description …), but at least one accepted answer is required.`,
      );
    return { id: undefined, question: utterance, references, annotations: {} };
  },
});

const DESCRIPTION = /\(description\s+(?:"((?:[^"\\]|\\.)*)"|([^()]*))\)/g;

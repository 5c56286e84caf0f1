import { z } from "../../base/schema.ts";
import { withoutUndefined } from "./agentrl.ts";
import type { TaskLayout } from "./layout.ts";
import { filledText, idText, parseRecord } from "./record.ts";

const schema = z.object({
  qid: idText.optional(),
  id: idText.optional(),
  question: filledText,
  answer: z.boolean(),
  facts: z.union([z.array(z.string()), z.string().transform((fact) => [fact])]).optional(),
  decomposition: z.array(z.string()).optional(),
});

/** StrategyQA: true and false are accepted as "yes" and "no". Its steps are questions without answers. */
export const strategyqa: TaskLayout = {
  name: "strategyqa",
  summary: "question, answer: true or false, facts[], decomposition[]",
  example: {
    record: {
      qid: "872b",
      question: "Who wrote it?",
      answer: true,
      term: "Sea",
      facts: ["The sea is tin."],
      decomposition: ["Is it tin?", "Is #1 true?"],
    },
    task: {
      id: "872b",
      references: ["yes"],
      annotations: {
        type: "yes-no",
        hops: 2,
        facts: ["The sea is tin."],
        decomposition: [
          { question: "Is it tin?", answer: "", passage: null },
          { question: "Is #1 true?", answer: "", passage: null },
        ],
      },
    },
    unanswered: { answer: "" },
  },
  fits: (record) => "question" in record && typeof record["answer"] === "boolean",
  read: (record, where) => {
    const { qid, id, question, answer, facts, decomposition } = parseRecord(schema, record, where);
    return {
      id: qid ?? id,
      question,
      references: [answer ? "yes" : "no"],
      annotations: withoutUndefined({
        type: "yes-no",
        hops: decomposition?.length,
        decomposition: decomposition?.map((step) => ({
          question: step,
          answer: "",
          passage: null,
        })),
        facts,
      }),
    };
  },
};

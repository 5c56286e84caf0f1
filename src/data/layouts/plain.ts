import { z } from "../../base/schema.ts";
import type { TaskLayout } from "./layout.ts";
import { answerList, filledText, idText, parseRecord } from "./record.ts";

const common = { id: idText.optional(), question: filledText };
const one = z.object({ ...common, answer: answerList });
const several = z.object({ ...common, answers: answerList });

/** A question with its answer or answers, and nothing else: NQ-open and most files made by hand. */
export const plain: TaskLayout = {
  name: "plain",
  summary: "question, answer or answers[], id if there is one",
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
};

import { z } from "../../base/schema.ts";
import type { TaskLayout } from "./layout.ts";
import { answerList, filledText, idText, parseRecord } from "./record.ts";

const schema = z.object({ id: idText.optional(), question: filledText, answers: answerList });

/** A question with its answer or answers, and nothing else: NQ-open and most files made by hand. */
export const plain: TaskLayout = {
  name: "plain",
  summary: "question, answer or answers[], id if there is one",
  fits: (record) => "question" in record && ("answer" in record || "answers" in record),
  read: (record, where) => {
    const named = "answers" in record ? record : { ...record, answers: record["answer"] };
    const { id, question, answers } = parseRecord(schema, named, where);
    return { id, question, references: answers, annotations: {} };
  },
};

import { z } from "../../base/schema.ts";
import { withoutUndefined } from "./agentrl.ts";
import type { TaskLayout } from "./layout.ts";
import { answerList, filledText, idText, parseRecord } from "./record.ts";

const schema = z.object({
  id: idText.optional(),
  question: filledText,
  possible_answers: z.preprocess(unpacked, answerList),
  prop: z.string().optional(),
});

/** PopQA, a table or lines: the accepted answers are a JSON list within a text. The relation is the type. */
export const popqa: TaskLayout = {
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
    const { id, question, possible_answers, prop } = parseRecord(schema, record, where);
    return {
      id,
      question,
      references: possible_answers,
      annotations: withoutUndefined({ type: prop }),
    };
  },
};

/** Text that is no JSON list is left for the schema to name. */
function unpacked(given: unknown): unknown {
  if (typeof given !== "string") return given;
  try {
    const list: unknown = JSON.parse(given);
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

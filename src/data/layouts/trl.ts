import { z } from "../../base/schema.ts";
import type { TaskLayout } from "./layout.ts";
import { answerList, filledText, idText, parseRecord } from "./record.ts";

const schema = z.object({
  id: idText.optional(),
  question: filledText,
  references: answerList,
  source: z.string().optional(),
});

/** Rows for TRL's GRPO trainer: `prompt` as a conversation; every other column reaches rewards and environments by its name. */
export const trl: TaskLayout = {
  name: "trl",
  summary: "prompt[], question, references[], id, source",
  example: {
    record: {
      id: "r1",
      prompt: [{ role: "user", content: "Answer: Who wrote it?" }],
      question: "Who wrote it?",
      references: ["Ada"],
      source: "nq",
    },
    task: { id: "r1", references: ["Ada"], source: "nq" },
    unanswered: { references: [] },
  },
  fits: (record) => "prompt" in record && "references" in record,
  read: (record, where) => {
    const { id, question, references, source } = parseRecord(schema, record, where);
    return { id, question, references, source, annotations: {} };
  },
  write: {
    keeps: [],
    keepsSource: true,
    record: ({ id, question, references, source }, { prompt }) => ({
      prompt: [{ role: "user", content: prompt }],
      ...{ question, references, id, source },
    }),
  },
};

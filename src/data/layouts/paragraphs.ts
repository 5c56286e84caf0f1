import { z } from "../../base/schema.ts";
import { withoutUndefined } from "./agentrl.ts";
import type { TaskLayout } from "./layout.ts";
import { badRecord, contextPassage, filledText, idText, parseRecord } from "./record.ts";

const schema = z.object({
  question_id: idText.optional(),
  question_text: filledText,
  answers_objects: z.array(z.object({ spans: z.array(z.string()) })),
  type: z.string().optional(),
  contexts: z
    .array(
      z.object({
        title: z.string(),
        paragraph_text: z.string(),
        is_supporting: z.boolean().optional(),
      }),
    )
    .optional(),
});

/** Questions with paragraphs as IRCoT prepared them, for HotpotQA, 2WikiMultihopQA, MuSiQue and Bamboogle. */
export const paragraphs: TaskLayout = {
  name: "paragraphs",
  summary: "question_text, answers_objects[].spans[], contexts[] (IRCoT)",
  example: {
    record: {
      question_id: "q9",
      question_text: "Who wrote it?",
      answers_objects: [{ spans: ["Ada", "Ada Roth"] }],
    },
    task: { id: "q9", references: ["Ada", "Ada Roth"] },
    unanswered: { answers_objects: [] },
  },
  fits: (record) => "question_text" in record,
  read: (record, where) => {
    const found = parseRecord(schema, record, where);
    const references = [...new Set(found.answers_objects.flatMap(({ spans }) => spans))].filter(
      (span) => span.trim() !== "",
    );
    if (references.length === 0) {
      throw badRecord(
        `${where}: "answers_objects" holds no span; at least one accepted answer is needed.`,
      );
    }
    const context = found.contexts?.map(({ title, paragraph_text }) =>
      contextPassage(title, [paragraph_text]),
    );
    const gold = context?.filter((_, i) => found.contexts?.[i]?.is_supporting === true);
    return {
      id: found.question_id,
      question: found.question_text,
      references,
      annotations: withoutUndefined({
        type: found.type,
        ...(gold === undefined || gold.length === 0
          ? {}
          : { hops: gold.length, supportingPassages: gold.map(({ id }) => id) }),
        context,
      }),
    };
  },
};

import { z } from "../../base/schema.ts";
import type { TaskLayout } from "./layout.ts";
import { badRecord, distinct, filledText, parseRecord } from "./record.ts";

const schema = z.object({ utterance: filledText, targetValue: z.string() });

/** WebQuestions as published: answers as `(list (description "A B") (description C))`. */
export const webquestions: TaskLayout = {
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
    const { utterance, targetValue } = parseRecord(schema, record, where);
    const references = distinct(
      [...targetValue.matchAll(DESCRIPTION)].map(([, quoted, bare = ""]) =>
        quoted === undefined ? bare.trim() : quoted.replaceAll(/\\(.)/g, "$1"),
      ),
    );
    if (references.length === 0) {
      throw badRecord(
        `${where}: "targetValue" is ${JSON.stringify(targetValue)}; it holds no (description …), and at least one accepted answer is needed.`,
      );
    }
    return { id: undefined, question: utterance, references, annotations: {} };
  },
};

const DESCRIPTION = /\(description\s+(?:"((?:[^"\\]|\\.)*)"|([^()]*))\)/g;

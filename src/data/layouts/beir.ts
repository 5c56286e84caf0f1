import { z } from "../../base/schema.ts";
import { factsSchema, supportOf } from "./hotpotqa.ts";
import { defineLayout, answerList, badRecord, filledText, idText, parseRecord } from "./layout.ts";

const schema = z.object({
  _id: idText,
  text: filledText,
  metadata: z
    .object({
      answer: answerList.optional(),
      answers: answerList.optional(),
      supporting_facts: factsSchema.optional(),
    })
    .nullish(),
});

/**
 * BEIR queries with an answer in their metadata, as in BEIR's HotpotQA. Queries without an answer cannot be scored;
 * `agentrl eval retrieval` reads them.
 */
export const beir = defineLayout({
  holds: "questions",
  name: "beir",
  summary: "_id, text, metadata.{answer or answers, supporting_facts}",
  example: {
    record: {
      _id: "5a8b",
      text: "Who wrote it?",
      metadata: { answer: "Ada", supporting_facts: [["A", 0]] },
    },
    task: {
      id: "5a8b",
      references: ["Ada"],
      annotations: { supportingFacts: [{ title: "A", sentence: 0 }] },
    },
    unanswered: { metadata: {} },
  },
  fits: (record) => "_id" in record && "text" in record && !("title" in record),
  read: (record, where) => {
    const { _id, text, metadata } = parseRecord(schema, record, where);
    const references = metadata?.answers ?? metadata?.answer;
    if (references === undefined)
      throw badRecord(
        `${where}: the query "${_id}" has no metadata.answer; at least one accepted answer is required. For relevance judgements only, use \`agentrl eval retrieval\`.`,
      );
    return {
      id: _id,
      question: text,
      references,
      annotations: supportOf(metadata?.supporting_facts, undefined),
    };
  },
  write: {
    keeps: ["supportingFacts"],
    keepsSource: false,
    record: ({ id, question, references, annotations: { supportingFacts } }) => ({
      _id: id,
      text: question,
      metadata: {
        answers: references,
        supporting_facts:
          supportingFacts === undefined
            ? undefined
            : supportingFacts.map(({ title, sentence }) => [title, sentence]),
      },
    }),
  },
});

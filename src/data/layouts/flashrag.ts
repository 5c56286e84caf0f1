import { z } from "../../base/schema.ts";
import type { Task } from "../../trajectory/task.ts";
import { contextSchema, factsSchema, supportOf } from "./hotpotqa.ts";
import {
  defineLayout,
  answerList,
  contextPassage,
  filledText,
  idText,
  parseRecord,
} from "./layout.ts";

const taskSchema = z.object({
  id: idText.optional(),
  question: filledText,
  golden_answers: answerList,
  data_source: z.string().optional(),
  metadata: z
    .object({
      // The metadata differ between datasets: those not in HotpotQA's form are ignored, not rejected.
      type: z.string().optional().catch(undefined),
      supporting_facts: factsSchema.optional().catch(undefined),
      context: contextSchema.optional().catch(undefined),
    })
    .nullish()
    .catch(undefined),
});

/** FlashRAG's question files, also used by Search-R1 and many of its successors. */
export const flashragTasks = defineLayout({
  holds: "questions",
  name: "flashrag",
  summary: "id, question, golden_answers[], metadata",
  example: {
    record: {
      id: "test_0",
      question: "Who wrote it?",
      golden_answers: ["Ada"],
      metadata: { type: "bridge", supporting_facts: { title: ["A"], sent_id: [1] }, context: 3 },
    },
    task: {
      id: "test_0",
      references: ["Ada"],
      annotations: { type: "bridge", supportingFacts: [{ title: "A", sentence: 1 }], hops: 1 },
    },
    unanswered: { golden_answers: [] },
  },
  fits: (record) => "golden_answers" in record,
  read: (record, where) => {
    const found = parseRecord(taskSchema, record, where);
    const context = found.metadata?.context?.map(([title, sentences]) =>
      contextPassage(title, sentences),
    );
    return {
      id: found.id,
      question: found.question,
      references: found.golden_answers,
      source: found.data_source,
      annotations: {
        type: found.metadata?.type,
        ...supportOf(found.metadata?.supporting_facts, context),
        context,
      },
    };
  },
  write: { keeps: ["type", "supportingFacts"], keepsSource: true, record: flashragRecord },
});

function flashragRecord({ id, question, references, source, annotations }: Task): object {
  const { type, supportingFacts, context } = annotations;
  const metadata = {
    type,
    supporting_facts:
      supportingFacts === undefined
        ? undefined
        : {
            title: supportingFacts.map(({ title }) => title),
            sent_id: supportingFacts.map(({ sentence }) => sentence),
          },
    context:
      context === undefined
        ? undefined
        : {
            title: context.map(({ title }) => title),
            content: context.map(({ text, sentences }) => sentences ?? [text]),
          },
  };
  return { id, question, golden_answers: references, data_source: source, metadata };
}

const passageSchema = z.object({ id: idText, contents: filledText });

/** FlashRAG's corpora: `contents` is a quoted title, a newline and the text. */
export const flashragCorpus = defineLayout({
  holds: "passages",
  name: "flashrag",
  summary: 'id, contents: "title" in quotes, newline, text',
  fits: (record) => "contents" in record && "id" in record,
  read: (record, where) => {
    const { id, contents } = parseRecord(passageSchema, record, where);
    const end = contents.indexOf("\n");
    if (end === -1) return { id, title: "", text: contents };
    const title = contents.slice(0, end).trim();
    return { id, title: title.replace(/^"(.*)"$/, "$1"), text: contents.slice(end + 1) };
  },
  write: ({ id, title, text }) => ({ id, contents: `"${title}"\n${text}` }),
});

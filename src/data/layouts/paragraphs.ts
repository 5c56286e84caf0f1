import { z } from "../../base/schema.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import {
  defineLayout,
  badRecord,
  contextPassage,
  count,
  filledText,
  idText,
  parseRecord,
  answerList,
  distinct,
} from "./layout.ts";

const paragraphsSchema = z.object({
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
  // Collab-RAG's files of 2WikiMultihopQA: "The Hunt director Jan Kowal".
  reasoning_steps: z.array(z.string()).optional(),
});

/** 2WikiMultihopQA's relations, which separate a step's subject from its answer. */
const RELATIONS =
  "date of birth|date of death|publication date|place of birth|place of death|place of burial|place of detention|" +
  "country of citizenship|country of origin|country|cause of death|director|father|mother|spouse|sibling|child|" +
  "performer|composer|producer|editor|creator|manufacturer|publisher|presenter|educated at|inception|founded by|" +
  "award received|employer|occupation|student of|doctoral advisor|religion";

const STEP = new RegExp(`^(?<subject>.+?) (?<relation>${RELATIONS}) (?<object>.+)$`);

/** Triples of the steps; undefined if any step is none, because a chain with a gap misleads. */
function triplesOf(steps: readonly string[] = []): Task["annotations"]["evidences"] {
  const triples = steps.flatMap((step) => {
    const { subject, relation, object } = STEP.exec(step)?.groups ?? {};
    return subject === undefined || relation === undefined || object === undefined
      ? []
      : [{ subject, relation, object }];
  });
  return triples.length > 0 && triples.length === steps.length ? triples : undefined;
}

/** Questions with paragraphs as prepared by IRCoT, for HotpotQA, 2WikiMultihopQA, MuSiQue and Bamboogle. */
export const paragraphs = defineLayout({
  holds: "questions",
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
    const found = parseRecord(paragraphsSchema, record, where);
    const references = [...new Set(found.answers_objects.flatMap(({ spans }) => spans))].filter(
      (span) => span.trim() !== "",
    );
    if (references.length === 0)
      throw badRecord(
        `${where}: "answers_objects" contains no span; at least one accepted answer is required.`,
      );
    const context = found.contexts?.map(({ title, paragraph_text }) =>
      contextPassage(title, [paragraph_text]),
    );
    const gold = context?.filter((_, i) => found.contexts?.[i]?.is_supporting === true);
    return {
      id: found.question_id,
      question: found.question_text,
      references,
      annotations: {
        type: found.type,
        hops: gold === undefined || gold.length === 0 ? undefined : gold.length,
        supportingPassages:
          gold === undefined || gold.length === 0 ? undefined : gold.map(({ id }) => id),
        context,
        evidences: triplesOf(found.reasoning_steps),
      },
    };
  },
});

const musiqueSchema = z.object({
  id: idText,
  question: filledText,
  answer: answerList,
  answer_aliases: z.array(z.string()).default([]),
  answerable: z.boolean().optional(),
  paragraphs: z.array(
    z.object({
      idx: count,
      title: z.string(),
      paragraph_text: z.string(),
      is_supporting: z.boolean().optional(),
    }),
  ),
  question_decomposition: z
    .array(
      z.object({
        question: z.string(),
        answer: z.string(),
        paragraph_support_idx: count.nullish(),
      }),
    )
    .default([]),
  // Our own keys: ids of the paragraphs, and which of them are gold.
  paragraph_ids: z.array(z.string()).optional(),
});

/**
 * MuSiQue: steps, each with the paragraph that contains its answer. In MuSiQue-Full, an answerable and an unanswerable question share
 * an id; here the id of the unanswerable one ends in `-unanswerable`.
 */
export const musique = defineLayout({
  holds: "questions",
  name: "musique",
  summary: "question, answer, paragraphs[], question_decomposition[]",
  example: {
    record: {
      id: "2hop__1_2",
      question: "Who wrote it?",
      answer: "Ada",
      answer_aliases: ["Ada Roth", "Ada"],
      paragraphs: [
        { idx: 0, title: "Lodz", paragraph_text: "Lodz is a city.", is_supporting: false },
        { idx: 1, title: "B", paragraph_text: "b", is_supporting: true },
        { idx: 2, title: "A", paragraph_text: "a", is_supporting: true },
      ],
      question_decomposition: [
        { id: 1, question: "What is it?", answer: "The Tin Sea", paragraph_support_idx: 2 },
        { id: 2, question: "#1 >> author", answer: "Ada", paragraph_support_idx: 1 },
      ],
      answerable: true,
    },
    task: {
      id: "2hop__1_2",
      references: ["Ada", "Ada Roth"],
      annotations: {
        type: "2hop",
        hops: 2,
        // In the order of the steps, not of the paragraphs.
        supportingPassages: ["p-5781569f7028c3ef", "p-1babfc8e9033664a"],
        decomposition: [
          { question: "What is it?", answer: "The Tin Sea", passage: "p-5781569f7028c3ef" },
          { question: "#1 >> author", answer: "Ada", passage: "p-1babfc8e9033664a" },
        ],
      },
    },
    unanswered: { answer: "" },
  },
  fits: (record) => "paragraphs" in record && "question" in record,
  read: (record, where) => {
    const found = parseRecord(musiqueSchema, record, where);
    const { answerable = true, question_decomposition: steps, paragraphs } = found;
    const context = paragraphs.map(({ title, paragraph_text }, i) =>
      contextPassage(title, [paragraph_text], found.paragraph_ids?.[i]),
    );
    const idOf = new Map(paragraphs.map(({ idx }, i) => [idx, context[i]?.id]));
    const decomposition = steps.map(({ question, answer, paragraph_support_idx: idx }) => ({
      question,
      answer,
      passage: (typeof idx === "number" ? idOf.get(idx) : undefined) ?? null,
    }));
    const chain = decomposition.flatMap(({ passage }) => passage ?? []);
    const marked = paragraphs.flatMap(({ idx, is_supporting }) =>
      is_supporting === true ? (idOf.get(idx) ?? []) : [],
    );
    const gold = distinct([...chain, ...marked]);
    return {
      id: answerable ? found.id : `${found.id}-unanswerable`,
      question: found.question,
      references: distinct([...found.answer, ...found.answer_aliases]),
      annotations: {
        type: /^\dhop\d?/.exec(found.id)?.[0],
        hops: steps.length === 0 ? undefined : steps.length,
        supportingPassages: gold.length === 0 ? undefined : gold,
        context: context.length === 0 ? undefined : context,
        decomposition: steps.length === 0 ? undefined : decomposition,
        answerable: answerable ? undefined : false,
      },
    };
  },
  write: {
    // MuSiQue's own ids start with the type; the number of hops is the number of steps.
    keeps: ["supportingPassages", "context", "decomposition", "answerable"],
    keepsSource: false,
    record: (task) => musiqueRecord(task),
  },
});

function musiqueRecord({ id, question, references, annotations }: Task): object {
  const { context = [], decomposition = [], supportingPassages = [], answerable } = annotations;
  const gold = new Set(supportingPassages);
  const [answer, ...aliases] = references;
  return {
    id: answerable === false ? id.replace(/-unanswerable$/, "") : id,
    paragraphs: context.map(({ id: passage, title, text }, idx) => ({
      idx,
      title,
      paragraph_text: text,
      is_supporting: gold.has(passage),
    })),
    question,
    question_decomposition: decomposition.map((step, i) => ({
      id: i,
      question: step.question,
      answer: step.answer,
      paragraph_support_idx: indexOf(context, step.passage),
    })),
    answer,
    answer_aliases: aliases,
    answerable: answerable ?? true,
    paragraph_ids: context.map((passage) => passage.id),
  };
}

function indexOf(context: readonly Passage[], passage: string | null): number | null {
  const index = context.findIndex(({ id }) => id === passage);
  return index === -1 ? null : index;
}

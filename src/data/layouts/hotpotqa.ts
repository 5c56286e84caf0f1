import { definedValues } from "../../base/defined-values.ts";
import { z } from "../../base/schema.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import {
  defineLayout,
  type TaskRead,
  answerList,
  contextPassage,
  count,
  filledText,
  idText,
  parseRecord,
} from "./layout.ts";

const factPairs = z.array(z.tuple([z.string(), count]));
const contextPairs = z.array(z.tuple([z.string(), z.array(z.string())]));

/** Hugging Face stores lists of pairs as one object of columns; this accepts both. */
export const factsSchema = z.preprocess(
  (facts) => pairs(facts, "title", "sent_id"),
  factPairs,
) as z.ZodType<[title: string, sentence: number][]>;

/** `factsSchema` for contexts; FlashRAG names the second column "content". */
export const contextSchema = z.preprocess(
  (context) => pairs(context, "title", "sentences", "content"),
  contextPairs,
) as z.ZodType<[title: string, sentences: string[]][]>;

const stepSchema = z.object({
  question: z.string(),
  answer: z.string(),
  passage: z.string().nullable(),
});

/** The keys of a HotpotQA record. */
const hotpotSchema = z.object({
  _id: idText.optional(),
  id: idText.optional(),
  question: filledText,
  answer: answerList,
  type: z.string().optional(),
  supporting_facts: factsSchema.optional(),
  context: contextSchema.optional(),
  // Our own keys, for annotations without a HotpotQA key.
  answer_aliases: z.array(filledText).optional(),
  source: z.string().optional(),
  hops: count.optional(),
  supporting_passages: z.array(z.string()).optional(),
  context_ids: z.array(z.string()).optional(),
  decomposition: z.array(stepSchema).optional(),
  answerable: z.boolean().optional(),
  route: z.array(z.string()).optional(),
});

/** By number of hops; three or more are hard. */
const LEVELS = ["easy", "easy", "medium", "hard"];

/** HotpotQA, as published or as columns; with our own keys, the tiny world's question files. */
export const hotpotqa = defineLayout({
  holds: "questions",
  name: "hotpotqa",
  summary: "_id, question, answer, type, level, supporting_facts, context",
  example: {
    record: {
      _id: "5a8b",
      question: "Who wrote it?",
      answer: "Ada",
      type: "bridge",
      level: "hard",
      context: [["The Tin Sea", ["The Tin Sea is a novel.", " Ada Roth wrote it."]]],
    },
    task: { id: "5a8b", references: ["Ada"], annotations: { type: "bridge" } },
    unanswered: { answer: "" },
  },
  fits: (record) =>
    "question" in record &&
    "answer" in record &&
    ["context", "supporting_facts", "type", "level"].some((key) => key in record),
  read: (record, where) => hotpotTask(parseRecord(hotpotSchema, record, where)),
  write: {
    keeps: [
      ...(["type", "hops", "supportingPassages", "supportingFacts", "context"] as const),
      ...(["decomposition", "answerable", "route"] as const),
    ],
    keepsSource: true,
    record: (task) => ({
      ...hotpotColumns(task),
      ...definedValues({
        decomposition: task.annotations.decomposition,
        answerable: task.annotations.answerable,
        route: task.annotations.route,
      }),
    }),
  },
});

function levelOf(hops: number | undefined): string | undefined {
  return hops === undefined ? undefined : LEVELS[Math.min(hops, LEVELS.length - 1)];
}

/** The columns that HotpotQA and 2WikiMultihopQA share, and our own keys for the other annotations. */
function hotpotColumns(task: Task): Record<string, unknown> {
  const { type, hops, context, supportingPassages } = task.annotations;
  const [answer, ...aliases] = task.references;
  return {
    _id: task.id,
    question: task.question,
    answer,
    answer_aliases: aliases.length === 0 ? undefined : aliases,
    ...definedValues({ type, level: levelOf(hops) }),
    supporting_facts: factColumns(task),
    context: (context ?? []).map(({ title, text, sentences }) => [
      title,
      spacedSentences(sentences ?? [text]),
    ]),
    source: task.source,
    ...definedValues({
      hops,
      supporting_passages: supportingPassages,
      context_ids: context?.map(({ id }) => id),
    }),
  };
}

/** A checked record of HotpotQA as a task. */
function hotpotTask(found: z.output<typeof hotpotSchema>): TaskRead {
  const passages = found.context?.map(([title, sentences], i) =>
    contextPassage(title, sentences, found.context_ids?.[i]),
  );
  const context = passages?.length === 0 ? undefined : passages;
  return {
    id: found._id ?? found.id,
    question: found.question,
    references: [...found.answer, ...(found.answer_aliases ?? [])],
    source: found.source,
    annotations: {
      type: found.type,
      ...supportOf(found.supporting_facts, context),
      ...definedValues({ hops: found.hops, supportingPassages: found.supporting_passages }),
      context,
      decomposition: found.decomposition,
      answerable: found.answerable,
      route: found.route,
    },
  };
}

/** Derives gold passages (if in the context) and number of hops from supporting facts. */
export function supportOf(
  facts: readonly [title: string, sentence: number][] | undefined,
  context: readonly Passage[] | undefined,
): Pick<Task["annotations"], "supportingFacts" | "supportingPassages" | "hops"> {
  if (facts === undefined || facts.length === 0) return {};
  const titles = [...new Set(facts.map(([title]) => title))];
  const ids = titles.map((title) => context?.find((passage) => passage.title === title)?.id);
  const known = ids.filter((id) => id !== undefined);
  return {
    supportingFacts: facts.map(([title, sentence]) => ({ title, sentence })),
    supportingPassages: known.length === ids.length && context !== undefined ? known : undefined,
    hops: titles.length,
  };
}

function factColumns(task: Task): [string, number][] {
  return (task.annotations.supportingFacts ?? []).map(({ title, sentence }) => [title, sentence]);
}

/** HotpotQA's form: later sentences start with a space, so that concatenation gives the text. */
function spacedSentences(sentences: readonly string[]): string[] {
  return sentences.map((sentence, i) => (i === 0 ? sentence : ` ${sentence}`));
}

function pairs(value: unknown, first: string, ...seconds: string[]): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const columns = value as Record<string, unknown>;
  const a = columns[first];
  const b = seconds.map((key) => columns[key]).find((column) => column !== undefined);
  if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return value;
  return a.map((item: unknown, i) => [item, b[i] as unknown]);
}

const triples = z.array(z.tuple([z.string(), z.string(), z.string()]));
const columns = z.object({
  fact: z.array(z.string()),
  relation: z.array(z.string()),
  entity: z.array(z.string()),
});

const schema = hotpotSchema.extend({
  evidences: z
    .union([
      triples,
      columns.transform(({ fact, relation, entity }) =>
        fact.map((subject, i) => [subject, relation[i] ?? "", entity[i] ?? ""] as const),
      ),
    ])
    .optional(),
});

/** 2WikiMultihopQA: HotpotQA's keys, and triples as evidence. Answer aliases are in another file, `id_aliases.json`, which is not read. */
export const wikiMultihop = defineLayout({
  holds: "questions",
  name: "2wikimultihopqa",
  summary: "HotpotQA's keys, evidences[][subject, relation, object]",
  example: {
    record: {
      _id: "w1",
      question: "Who wrote it?",
      answer: "Ada",
      type: "compositional",
      context: [
        ["The Tin Sea", ["The Tin Sea is a novel.", " Ada Roth wrote it."]],
        ["Lodz", ["Lodz is a city."]],
      ],
      supporting_facts: [["The Tin Sea", 1]],
      evidences: [["The Tin Sea", "author", "Ada Roth"]],
      answer_id: "Q1",
    },
    task: {
      id: "w1",
      references: ["Ada"],
      annotations: {
        type: "compositional",
        supportingFacts: [{ title: "The Tin Sea", sentence: 1 }],
        evidences: [{ subject: "The Tin Sea", relation: "author", object: "Ada Roth" }],
      },
    },
    unanswered: { answer: " " },
  },
  fits: (record) => "question" in record && "answer" in record && "evidences" in record,
  read: (record, where) => {
    const found = parseRecord(schema, record, where);
    const task = hotpotTask(found);
    const evidences = found.evidences?.map(([subject, relation, object]) => ({
      subject,
      relation,
      object,
    }));
    if (evidences === undefined || evidences.length === 0) return task;
    return { ...task, annotations: { ...task.annotations, evidences } };
  },
  write: {
    keeps: ["type", "hops", "supportingPassages", "supportingFacts", "context", "evidences"],
    keepsSource: true,
    record: (task) => ({
      ...hotpotColumns(task),
      evidences: (task.annotations.evidences ?? []).map(({ subject, relation, object }) => [
        subject,
        relation,
        object,
      ]),
    }),
  },
});

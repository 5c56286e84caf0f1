import { z } from "../../base/schema.ts";
import { defineLayout, count, filledText, idText, parseRecord } from "./layout.ts";

const strategyqaSchema = z.object({
  qid: idText.optional(),
  id: idText.optional(),
  question: filledText,
  answer: z.boolean(),
  facts: z.union([z.array(z.string()), z.string().transform((fact) => [fact])]).optional(),
  decomposition: z.array(z.string()).optional(),
});

/** StrategyQA: true and false become "yes" and "no". Its steps are questions without answers. */
export const strategyqa = defineLayout({
  holds: "questions",
  name: "strategyqa",
  summary: "question, answer: true or false, facts[], decomposition[]",
  example: {
    record: {
      qid: "872b",
      question: "Who wrote it?",
      answer: true,
      term: "Sea",
      facts: ["The sea is tin."],
      decomposition: ["Is it tin?", "Is #1 true?"],
    },
    task: {
      id: "872b",
      references: ["yes"],
      annotations: {
        type: "yes-no",
        hops: 2,
        facts: ["The sea is tin."],
        decomposition: [
          { question: "Is it tin?", answer: "", passage: null },
          { question: "Is #1 true?", answer: "", passage: null },
        ],
      },
    },
    unanswered: { answer: "" },
  },
  fits: (record) => "question" in record && typeof record["answer"] === "boolean",
  read: (record, where) => {
    const { qid, id, question, answer, facts, decomposition } = parseRecord(
      strategyqaSchema,
      record,
      where,
    );
    return {
      id: qid ?? id,
      question,
      references: [answer ? "yes" : "no"],
      annotations: {
        type: "yes-no",
        hops: decomposition?.length,
        decomposition: decomposition?.map((step) => ({
          question: step,
          answer: "",
          passage: null,
        })),
        facts,
      },
    };
  },
});

const line = z.tuple([z.unknown(), z.unknown(), z.string().nullable(), count.nullable()]);

const feverSchema = z.object({
  id: idText.optional(),
  claim: filledText,
  label: z.enum(["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"]),
  evidence: z.array(z.array(line)).optional(),
});

/**
 * FEVER: the claim is the question, its label the answer. Any single evidence set is sufficient; the first of those with the fewest
 * sentences is kept.
 */
export const fever = defineLayout({
  holds: "questions",
  name: "fever",
  summary: "id, claim, label, evidence[][][…, page, sentence]",
  example: {
    record: {
      id: 75397,
      claim: "Who wrote it?",
      label: "SUPPORTS",
      evidence: [
        [
          [1, 2, "Ada_Roth", 7],
          [1, 2, "The_Tin_Sea_-LRB-novel-RRB-", 0],
        ],
        [[1, 3, "The_Tin_Sea_-LRB-novel-RRB-", 4]],
        [[1, null, null, null]],
      ],
    },
    task: {
      id: "75397",
      references: ["SUPPORTS"],
      annotations: { hops: 1, supportingFacts: [{ title: "The Tin Sea (novel)", sentence: 4 }] },
    },
    unanswered: { label: undefined },
  },
  fits: (record) => "claim" in record,
  read: (record, where) => {
    const { id, claim, label, evidence = [] } = parseRecord(feverSchema, record, where);
    const sets = evidence
      .map((set) =>
        set.flatMap(([, , page, sentence]) =>
          page === null || sentence === null ? [] : [{ title: titleOf(page), sentence }],
        ),
      )
      .filter((set) => set.length > 0)
      .toSorted((a, b) => a.length - b.length);
    const facts = sets[0];
    const titles = new Set(facts?.map(({ title }) => title));
    return {
      id,
      question: claim,
      references: [label],
      annotations: {
        type: "claim",
        hops: facts === undefined ? undefined : titles.size,
        supportingFacts: facts,
      },
    };
  },
});

const CODED: Readonly<Record<string, string>> = {
  "-LRB-": "(",
  "-RRB-": ")",
  "-LSB-": "[",
  "-RSB-": "]",
  "-COLON-": ":",
};

/** A page's title from its name in FEVER's dump. @example titleOf("Gladiator_-LRB-2000_film-RRB-") // "Gladiator (2000 film)" */
function titleOf(page: string): string {
  return page
    .replaceAll("_", " ")
    .replaceAll(/-(?:LRB|RRB|LSB|RSB|COLON)-/g, (code) => CODED[code] ?? code)
    .normalize("NFC");
}

/** Mathematics sets as they are published. The final answer is one text: its brackets and commas are an interval, a tuple or a set. */
import { z } from "../../base/schema.ts";
import { finalAnswer } from "../../math/extract-answer.ts";
import {
  badRecord,
  count,
  defineLayout,
  filledText,
  idText,
  parseRecord,
  publishedAnswer,
} from "./layout.ts";

const gsm8kSchema = z.object({ question: filledText, answer: z.string() });

/** GSM8K: the accepted answer stands after "#### ", below the steps; thousands separators stay ("1,080"). */
export const gsm8k = defineLayout({
  holds: "questions",
  name: "gsm8k",
  summary: "question, answer: steps, then #### and the final answer",
  example: {
    record: { question: "Who wrote it?", answer: "540 * 2 = <<540*2=1080>>1080\n#### 1,080" },
    task: { references: ["1,080"] },
    unanswered: { answer: "540 * 2 = 1080" },
  },
  wholeAnswers: true,
  fits: ({ question, answer }) =>
    question !== undefined && typeof answer === "string" && FINAL.test(answer),
  read: (record, where) => {
    const { question, answer } = parseRecord(gsm8kSchema, record, where);
    const [, final] = FINAL.exec(answer) ?? [];
    if (final !== undefined) return { question, references: [final] };
    throw badRecord(`${where}: "answer" does not end with a line "#### " and the final answer.`);
  },
});

const FINAL = /(?:^|\n)####[ \t]*(\S[^\n]*?)\s*$/;

const mathSchema = z.object({
  id: idText.nullish(),
  unique_id: idText.nullish(),
  problem: filledText.optional(),
  question: filledText.optional(),
  answer: publishedAnswer.nullish(),
  final_answer: publishedAnswer.nullish(),
  /** A text; a list in OlympiadBench, which has answers. */
  solution: z.unknown().optional(),
  type: z.string().nullish(),
  subject: z.string().nullish(),
  subfield: z.string().nullish(),
  /** 5 or "Level 5"; anything else is no level. */
  level: z.preprocess(levelNumber, count).optional().catch(undefined),
});

function levelNumber(level: unknown): unknown {
  return typeof level === "string" ? Number(level.replace("Level ", "")) : level;
}

/** MATH and the sets in its form. Without an answer of its own, a record's answer is the last box of its solution. */
export const math = defineLayout({
  holds: "questions",
  name: "math",
  summary: "problem, answer or solution with \\boxed{}, subject, level",
  example: {
    record: {
      problem: "Who wrote it?",
      solution: "First $\\boxed{3}$, then $\\boxed{[0,\\frac{1}{2}]}$.",
      type: "Precalculus",
      level: "Level 5",
    },
    task: { references: ["[0,\\frac{1}{2}]"], annotations: { type: "Precalculus", level: 5 } },
    unanswered: { solution: "It is 3." },
  },
  wholeAnswers: true,
  fits: (record) =>
    ("problem" in record && ("answer" in record || "solution" in record)) ||
    ("question" in record && "final_answer" in record),
  read: (record, where) => {
    const found = parseRecord(mathSchema, record, where);
    const question = found.problem ?? found.question;
    if (question === undefined) throw badRecord(`${where}: has no "problem".`);
    const own = found.final_answer ?? found.answer ?? [];
    const references = own.length > 0 ? own : boxedAnswer(found.solution);
    const type = found.type ?? found.subject ?? found.subfield ?? undefined;
    const id = found.unique_id ?? found.id ?? undefined;
    return { id, question, references, annotations: { type, level: found.level } };
  },
});

/** Empty without a box, and for the two solutions of MATH with an empty one. */
function boxedAnswer(solution: unknown): string[] {
  if (typeof solution !== "string") return [];
  // Without braces in a few solutions of MATH: "$\boxed 2$".
  const bare = [...solution.matchAll(/\\f?boxed\s+([^\s{$][^$]*)/g)].at(-1)?.[1];
  const answer = finalAnswer(solution, "boxed") ?? bare?.trim() ?? "";
  return answer === "" ? [] : [answer];
}

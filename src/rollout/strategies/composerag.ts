import { z } from "../../base/schema.ts";
import type { AnsweredQuestion, Asked } from "../../env/teacher.ts";
import { type ShownPassage, numbered, passagesIn } from "../../trajectory/passages.ts";
import { type PromptSession, withPrompts } from "../prompt-session.ts";
import { firstLine } from "../sentences.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** Most sub-questions of a question. */
  subQuestions: z.int().min(1).default(5),
  /** Retries of an unsupported answer, for each sub-question and for the whole. */
  reflections: z.int().min(0).default(2),
  /** Optional modules. */
  gate: z.boolean().default(true),
  rewrite: z.boolean().default(true),
  rerank: z.boolean().default(true),
  verify: z.boolean().default(true),
});

type Settings = z.output<typeof options>;

/**
 * Modules, each one prompt: decompose; for each sub-question: gate, rewrite, search, rerank, answer, verify; then compose and verify. An
 * unsupported answer is retried: a sub-question from its query, the whole from its decomposition; after the last try it stays.
 */
export const composerag = defineStrategy({
  name: "composerag",
  summary: "ComposeRAG: modules that decompose, rewrite, search, rank, answer, verify and reflect.",
  source:
    "ComposeRAG, arXiv 2506.00232; without published code or prompts, so all prompts and the criterion (supported by the passages) are ours",
  prompts: "own",
  describesPrompts: true,
  searches: true,
  needs: ["searching", "answers"],
  options,
  example: { settings: { reflections: 1, subQuestions: 2 } },
  run: (rollout, settings) =>
    withPrompts(rollout, async (session) => {
      const { question } = rollout.task;
      let answer: string | null = null;
      let rejected = "";
      for (let attempt = 0; attempt <= settings.reflections; attempt++) {
        const work = { session, settings, prefix: attempt === 0 ? "" : `again-${attempt}/` };
        const parts = await decompose(work, question, rejected);
        if (parts === null) return answer;
        const solved: AnsweredQuestion[] = [];
        for (const part of parts) solved.push(await solve(work, fill(part, solved), solved.length));
        answer = await compose(work, question, solved);
        if (answer === null) continue;
        if (await isSupported(work, { question, answer }, notesOf(solved))) return answer;
        rejected = answer;
      }
      return answer;
    }),
});

type Work = { session: PromptSession; settings: Settings; prefix: string };

/** Runs a module; its answer is the first line, "" if it has none or its prompt does not fit. */
async function consult(
  { session, prefix }: Work,
  module: string,
  asked: Asked,
  lines: readonly string[],
): Promise<{ text: string; turn: number | null }> {
  const how = { chain: `${prefix}${module}`, maxTokens: MODULE_TOKENS, asked };
  const message = await session.ask(lines.join("\n"), how);
  return { text: message?.text ?? "", turn: message?.turn ?? null };
}

const MODULE_TOKENS = 200;

/** Answer of a sub-question that the passages do not tell. */
const UNKNOWN = "unknown";

/** @returns null when the question does not fit the context. */
async function decompose(work: Work, question: string, rejected: string): Promise<string[] | null> {
  const write = (questions: readonly string[]): string =>
    questions.map((question, i) => `\n${i + 1}. ${question}`).join("");
  const asked: Asked = { for: "plan", write };
  const { text, turn } = await consult(work, "decompose", asked, [
    "Split the question into the simpler questions that must be answered first, one a line: 1. … 2. … A later one may hold #1 for the answer of the first, and so on. Do not split what is simple already.",
    ...(rejected === ""
      ? []
      : [
          `An earlier attempt answered "${rejected}", which was not supported: split it otherwise.`,
        ]),
    `Question: ${question}`,
    "Simpler questions:",
  ]);
  if (turn === null) return null;
  const parts = [...text.matchAll(/^\s*\d+[.):]\s*(\S.*)$/gm)].map(([, part = ""]) => part.trim());
  return parts.length === 0 ? [question] : parts.slice(0, work.settings.subQuestions);
}

function fill(part: string, solved: readonly AnsweredQuestion[]): string {
  return part.replace(
    /#(\d+)/g,
    (mark, number: string) => solved[Number(number) - 1]?.answer ?? mark,
  );
}

async function solve(work: Work, question: string, index: number): Promise<AnsweredQuestion> {
  const { gate, reflections } = work.settings;
  const own = { ...work, prefix: `${work.prefix}${index + 1}/` };
  if (gate && !(await needsSearch(own, question)))
    return { question, answer: await answerFrom(own, question, []) };
  let answer = "";
  const failed: string[] = [];
  for (let attempt = 0; attempt <= reflections; attempt++) {
    const { passages, query } = await retrieve(own, question, failed);
    answer = await answerFrom(own, question, passages);
    if (await isSupported(own, { question, answer }, numbered(passages))) break;
    failed.push(query);
  }
  return { question, answer };
}

async function needsSearch(work: Work, question: string): Promise<boolean> {
  const write = (isNeeded: boolean): string => (isNeeded ? " look up" : " certain");
  const { text } = await consult(work, "gate", { for: "need", write }, [
    "Must this question be looked up, or is its answer certain without? Write: look up, or: certain.",
    `Question: ${question}`,
    "Decision:",
  ]);
  return !/^\W*certain/i.test(text);
}

async function retrieve(
  work: Work,
  question: string,
  failed: readonly string[],
): Promise<{ passages: ShownPassage[]; query: string }> {
  const { session, settings } = work;
  let query = question;
  let turn: number | null = null;
  if (settings.rewrite) {
    const asked: Asked = { for: "query", question, failed };
    const rewritten = await consult(work, "rewrite", asked, [
      "Write a search query that finds passages with the answer of the question.",
      ...failed.map((each) => `Found nothing that helps: ${each}`),
      `Question: ${question}`,
      "Query:",
    ]);
    turn = rewritten.turn;
    query = firstLine(rewritten.text) || question;
  }
  const found = passagesIn(await session.search(query, turn));
  return { passages: await rerank(work, question, found), query };
}

/** Passages in the policy's order; unnamed ones come last. */
async function rerank(
  work: Work,
  question: string,
  found: ShownPassage[],
): Promise<ShownPassage[]> {
  if (!work.settings.rerank || found.length < 2) return found;
  const asked: Asked = { for: "order", question, passages: found };
  const { text } = await consult(work, "rerank", asked, [
    numbered(found),
    "Order the passages by how well they answer the question: write their numbers, the best first.",
    `Question: ${question}`,
    "Order:",
  ]);
  const named = [...firstLine(text).matchAll(/\d+/g)].flatMap(([number]) => {
    const passage = found[Number(number) - 1];
    return passage === undefined ? [] : [passage];
  });
  return [...new Set([...named, ...found])];
}

async function answerFrom(
  work: Work,
  question: string,
  passages: readonly ShownPassage[],
): Promise<string> {
  const asked: Asked = { for: "sub-answer", question, passages, unknown: UNKNOWN };
  const { text } = await consult(work, "answer", asked, [
    ...(passages.length === 0 ? [] : [numbered(passages)]),
    "Answer the question in a few words, from the passages where there are any. If you cannot, write: unknown.",
    `Question: ${question}`,
    "Answer:",
  ]);
  return firstLine(text) || UNKNOWN;
}

function compose(
  work: Work,
  question: string,
  solved: readonly AnsweredQuestion[],
): Promise<string | null> {
  const prompt = [
    notesOf(solved),
    "Answer the question from these answers, as short as possible.",
    `Question: ${question}`,
    "",
  ].join("\n");
  const asked: Asked = { for: "answer", known: solved };
  return work.session.answer(prompt, { chain: `${work.prefix}compose`, asked });
}

/** Whether an answer is supported; without the module everything is. */
async function isSupported(
  work: Work,
  { question, answer }: AnsweredQuestion,
  evidence: string,
): Promise<boolean> {
  if (!work.settings.verify) return true;
  const write = (isRight: boolean): string => (isRight ? " yes" : " no");
  const asked: Asked = { for: "verdict", answered: { question, answer }, write };
  const { text } = await consult(work, "verify", asked, [
    evidence,
    "Does this support the answer? Write yes or no.",
    `Question: ${question}`,
    `Answer: ${answer}`,
    "Supported:",
  ]);
  return /^\W*yes\b/i.test(text);
}

function notesOf(solved: readonly AnsweredQuestion[]): string {
  return solved.map(({ question, answer }) => `${question} ${answer}`).join("\n");
}

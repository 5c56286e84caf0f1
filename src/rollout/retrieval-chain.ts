import { z } from "../base/schema.ts";
import type { AnsweredQuestion } from "../env/teacher.ts";
import { exactMatch } from "../text/answers.ts";
import { type ShownPassage, passagesIn } from "../trajectory/passages.ts";
import type { Task } from "../trajectory/task.ts";
import type { Answered, PromptSession } from "./prompt-session.ts";
import type { Sampling } from "./sampling.ts";
import { firstLine } from "./sentences.ts";

/** One step of a retrieval chain: a sub-question and its answer from passages. */
export type ChainLink = { query: string; answer: string };

/** Options of all strategies that build chains. */
export const chainShape = {
  /** Steps of a chain (paper: L). */
  steps: z.int().min(1).default(6),
};

/** Sub-answer if the passages do not help; chains are chosen by its likelihood as the main answer. */
const NOTHING_RELEVANT = "No relevant information found";

const QUERY_TOKENS = 64;
const ANSWER_TOKENS = 128;
/** Most query calls of a chain, per step: a repeated query is drawn again. */
const TRIES = 4;
const RETRY_TEMPERATURE = 0.7;

/** Options of extending a chain. */
export interface ChainCourse {
  question: string;
  steps: number;
  /** Sampling of queries; sub-answers are greedy. */
  sampling?: Partial<Sampling>;
  /** Whether the chain is long enough, asked after each link; never where absent. */
  isEnough?: (links: readonly ChainLink[]) => Promise<boolean>;
}

/**
 * Adds links to a chain until it has `steps`, or the policy has no new query.
 * Source: CoRAG, arXiv 2501.14342, section 3; microsoft/LMOps, corag. Different here: a chain ends early without a new query; a search
 * shows as many passages as the environment's tool, in our words, best last.
 */
export async function extendChain(
  session: PromptSession,
  links: readonly ChainLink[],
  course: ChainCourse,
): Promise<ChainLink[]> {
  const chain = [...links];
  let tries = TRIES * (course.steps - links.length);
  let again = false;
  while (chain.length < course.steps && tries-- > 0) {
    const proposed = await proposeQuery(session, chain, { ...course, again });
    if (proposed === null || proposed.query === "") break;
    again = isAsked(proposed.query, chain);
    if (again) continue;
    chain.push(await answerQuery(session, proposed));
    if ((await course.isEnough?.(chain)) === true) break;
  }
  return chain;
}

/** A query and its message. */
export type ProposedQuery = { query: string; answered: Answered };

/** The policy's next query. @param again the last query was a repetition: draw another. @returns null when the prompt does not fit. */
export async function proposeQuery(
  session: PromptSession,
  links: readonly ChainLink[],
  { question, sampling = {}, again = false }: ChainCourse & { again?: boolean },
): Promise<ProposedQuery | null> {
  const prompt = [
    "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.",
    `Question: ${question}`,
    ...asked(links),
    "Write the next question to look up, alone and unlike those before.",
    `Query ${links.length + 1}:`,
  ].join("\n");
  const temperature = Math.max(sampling.temperature ?? 0, RETRY_TEMPERATURE);
  const answered = await session.ask(prompt, {
    maxTokens: QUERY_TOKENS,
    asked: { for: "next-question", known: answeredIn(links) },
    sampling: again ? { ...sampling, temperature } : sampling,
  });
  return answered && { query: firstLine(answered.text), answered };
}

/** Whether a chain already has that query; an empty query counts as such. */
export function isAsked(query: string, links: readonly ChainLink[]): boolean {
  return query === "" || links.some((link) => exactMatch(query, [link.query]) === 1);
}

/** Searches for a query and lets the policy answer it from the passages. */
export async function answerQuery(
  session: PromptSession,
  { query, answered }: ProposedQuery,
): Promise<ChainLink> {
  const found = passagesIn(await session.search(query, answered.turn));
  const prompt = [
    ...bestLast(found),
    `Answer the query from the passages, in a few words. If they do not tell, write: ${NOTHING_RELEVANT}`,
    `Query: ${query}`,
    "Answer:",
  ].join("\n");
  const message = await session.ask(prompt, {
    maxTokens: ANSWER_TOKENS,
    sampling: { temperature: 0 },
    asked: { for: "sub-answer", question: query, passages: found, unknown: NOTHING_RELEVANT },
  });
  const answer = firstLine(message?.text ?? "");
  return { query, answer: answer === "" ? NOTHING_RELEVANT : answer };
}

/** The final answer, from a chain and the passages found by the question itself. */
export async function answerFromChain(
  session: PromptSession,
  question: string,
  links: readonly ChainLink[],
): Promise<string | null> {
  const found = passagesIn(await session.search(question, null));
  const prompt = finalPrompt(question, links, found);
  return session.answer(prompt, {
    maxTokens: ANSWER_TOKENS,
    sampling: { temperature: 0 },
    asked: { for: "answer", known: answeredIn(links) },
  });
}

/**
 * Whether a chain tells a reference: its last sub-answer equals one, or one's mean log-probability per token exceeds a level.
 * @throws {ConfigError} STRATEGY_NEEDS_LOGPROBS
 */
export async function tellsReference(
  session: PromptSession,
  { question, references }: Pick<Task, "question" | "references">,
  links: readonly ChainLink[],
  level: number,
): Promise<boolean> {
  if (exactMatch(links.at(-1)?.answer ?? "", references) === 1) return true;
  const prompt = finalPrompt(question, links, []);
  for (const reference of references) {
    if (((await session.likelihood(prompt, reference)) ?? -Infinity) > level) return true;
  }
  return false;
}

/**
 * Mean log-probability per token of "nothing relevant found" as the answer with a chain; low is good, Infinity if it does not fit.
 * @throws {ConfigError} STRATEGY_NEEDS_LOGPROBS
 */
export async function chainPenalty(
  session: PromptSession,
  question: string,
  links: readonly ChainLink[],
): Promise<number> {
  const penalty = await session.likelihood(finalPrompt(question, links, []), NOTHING_RELEVANT);
  return penalty ?? Infinity;
}

function finalPrompt(
  question: string,
  links: readonly ChainLink[],
  found: readonly ShownPassage[],
): string {
  return [
    ...bestLast(found),
    "Answer the question from what was looked up, as short as possible.",
    ...asked(links),
    `Question: ${question}`,
    "",
  ].join("\n");
}

function asked(links: readonly ChainLink[]): string[] {
  return links.flatMap(({ query, answer }, i) => [
    `Query ${i + 1}: ${query}`,
    `Answer ${i + 1}: ${answer}`,
  ]);
}

function answeredIn(links: readonly ChainLink[]): AnsweredQuestion[] {
  return links.map(({ query, answer }) => ({ question: query, answer }));
}

/** The best passages come last, nearest to the question. */
function bestLast(found: readonly ShownPassage[]): string[] {
  return found.length === 0 ? [] : ["Passages:", ...found.map(({ text }) => text).reverse()];
}

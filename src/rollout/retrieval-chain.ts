import { z } from "../base/schema.ts";
import { exactMatch } from "../text/answers.ts";
import type { Answered, PromptSession } from "./prompt-session.ts";
import { passagesIn, type ShownPassage } from "./passages.ts";
import type { Sampling } from "./sampling.ts";
import { firstLine } from "./sentences.ts";

/** One step of a retrieval chain: a question simpler than the main one, and what its passages answer. */
export interface ChainLink {
  query: string;
  answer: string;
}

/** Options of all strategies that build chains. */
export const chainShape = {
  /** Steps of a chain (paper: L). */
  steps: z.int().min(1).default(6),
};

/** What a sub-answer says when the passages do not tell; its likelihood as the main answer is what chains are chosen by. */
const NOTHING_RELEVANT = "No relevant information found";

/** Tokens of a message at most. */
const QUERY_TOKENS = 64;
const ANSWER_TOKENS = 128;
/** Calls for queries of a chain, in multiples of its steps: a query that was asked before is drawn again. */
const TRIES = 4;
/** Least temperature of a query that is drawn again. */
const RETRY_TEMPERATURE = 0.7;

/** How a chain goes on. */
export interface ChainCourse {
  question: string;
  /** Links of the whole chain. */
  steps: number;
  /** How queries are drawn; sub-answers are always the likeliest. */
  sampling?: Partial<Sampling>;
}

/**
 * Adds links to a chain until it has so many, or the policy has nothing new to ask.
 *
 * Source: CoRAG, arXiv 2501.14342, section 3; microsoft/LMOps, corag. Different here: a chain ends early where no new query comes;
 * a search shows as many passages as the environment's tool, in our words, best last.
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
    if (proposed === null) break;
    again = isAsked(proposed.query, chain);
    if (!again) chain.push(await answerQuery(session, proposed));
  }
  return chain;
}

/** A query and the message that it came in. */
export interface ProposedQuery {
  query: string;
  answered: Answered;
}

/** The policy's next query. @param again it asked an old one: another is drawn. @returns null when the prompt does not fit. */
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
    sampling: again ? { ...sampling, temperature } : sampling,
  });
  return answered && { query: firstLine(answered.text), answered };
}

/** Whether a chain has asked that already; nothing counts as asked. */
export function isAsked(query: string, links: readonly ChainLink[]): boolean {
  return query === "" || links.some((link) => exactMatch(query, [link.query]) === 1);
}

/** Looks a query up and has it answered from what was found. */
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
  const how = { maxTokens: ANSWER_TOKENS, sampling: { temperature: 0 } };
  const message = await session.ask(prompt, how);
  const answer = firstLine(message?.text ?? "");
  return { query, answer: answer === "" ? NOTHING_RELEVANT : answer };
}

/** The final answer: from a chain and the passages that the question itself finds. */
export async function answerFromChain(
  session: PromptSession,
  question: string,
  links: readonly ChainLink[],
): Promise<string | null> {
  const found = passagesIn(await session.search(question, null));
  const prompt = finalPrompt(question, links, found);
  return session.answer(prompt, { maxTokens: ANSWER_TOKENS, sampling: { temperature: 0 } });
}

/**
 * How likely the policy would say that nothing relevant was found, asked the main question with a chain: mean log-probability a
 * token, nats; low is good. Infinity where it does not fit the context.
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

/** Passages nearest to the question stand nearest to it. */
function bestLast(found: readonly ShownPassage[]): string[] {
  return found.length === 0 ? [] : ["Passages:", ...found.map(({ text }) => text).reverse()];
}

import type { Passage } from "./task.ts";

/** Prompts of the package's small roles. Code that asks a role and recipes that train one use the same prompt. */

/** What stands around a reply: each prompt ends with the opening, and the closing is the stop string. */
export const ROLE_REPLY = { opening: "<answer>", closing: "</answer>" } as const;

/** What the judge replies. */
export const VERDICTS = { right: "yes", wrong: "no" } as const;

/** The last word of the entailment verifier's reply. */
export const ENTAILMENT = { entailed: "true", neutral: "unknown", contradicted: "false" } as const;

export type Entailment = keyof typeof ENTAILMENT;

type Shown = Pick<Passage, "title" | "text">;

/** One line a passage, as corpus-search shows them: `Doc 1(Title: Oslo) Oslo is a city.` */
export function numberedPassages(passages: readonly Shown[]): string {
  return passages.map(({ title, text }, i) => `Doc ${i + 1}(Title: ${title}) ${text}`).join("\n");
}

/** Asks a reader for the short answer that passages give; it replies "unknown" where they give none. */
export function readerPrompt(asked: { passages: readonly Shown[]; question: string }): string {
  return withOpening(`Question: ${asked.question}\n${information(asked.passages)}`);
}

/** Asks a simulated search engine for useful or noisy numbered passages for a query of `question`, whose answer is `answer`. */
export function simulatorPrompt(asked: {
  query: string;
  question: string;
  answer: string;
  quality: "useful" | "noisy";
}): string {
  const { query, question, answer, quality } = asked;
  return withOpening(
    `Question: ${question} Answer: ${answer} Query: ${query} Passages: ${quality}`,
  );
}

/** Asks a judge whether an answer means the same as one of the references. It need not know the question. */
export function judgePrompt(asked: { references: readonly string[]; answer: string }): string {
  const { references, answer } = asked;
  return withOpening(`Question: Is it true? Right: ${references.join(" or ")} Answer: ${answer}`);
}

/** Asks whether a sentence follows from passages. The reply is the value that these state, if they state one, and then the verdict. */
export function entailmentPrompt(asked: { passages: readonly Shown[]; sentence: string }): string {
  return withOpening(`Question: ${asked.sentence} Is it true?\n${information(asked.passages)}`);
}

function information(passages: readonly Shown[]): string {
  return `<information>${numberedPassages(passages)}</information>`;
}

function withOpening(text: string): string {
  return `${text}\n${ROLE_REPLY.opening}`;
}

import { ConfigError } from "../../base/errors.ts";

/** What a simulated search engine is told. */
export interface Simulation {
  query: string;
  /** Of the task that asks; null where nobody does. */
  question: string | null;
  /** The first accepted answer. */
  answer: string | null;
  useful: boolean;
  documents: number;
  words: number;
}

const PLACEHOLDERS = ["query", "question", "answer", "quality", "documents", "words"] as const;

/**
 * The prompt of a simulated search engine.
 * @param template null: ours. Else text with `{{query}}`, `{{question}}`, `{{answer}}`, `{{quality}}` (useful or noisy),
 *   `{{documents}}` and `{{words}}`; question and answer are empty where no task asks.
 */
export function simulationPrompt(simulation: Simulation, template: string | null): string {
  if (template === null) return ownPrompt(simulation);
  const { question, answer, useful } = simulation;
  const values: Record<(typeof PLACEHOLDERS)[number], string> = {
    query: simulation.query,
    question: question ?? "",
    answer: answer ?? "",
    quality: useful ? "useful" : "noisy",
    documents: String(simulation.documents),
    words: String(simulation.words),
  };
  return template.replaceAll(/\{\{\s*(\w+)\s*\}\}/g, (whole, name: string) =>
    name in values ? values[name as keyof typeof values] : whole,
  );
}

/**
 * Checks a template before anything is asked with it.
 * @throws {ConfigError} RECIPE_BAD_VALUE when it lacks `{{query}}` or has a placeholder that there is not.
 */
export function checkTemplate(template: string, path: string): string {
  const known: readonly string[] = PLACEHOLDERS;
  const used = [...template.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name = ""]) => name);
  const unknown = used.find((name) => !known.includes(name));
  const list = known.map((name) => `{{${name}}}`).join(", ");
  if (unknown !== undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${path}: the template has {{${unknown}}}. Known: ${list}.`,
    );
  }
  if (used.includes("query")) return template;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `${path}: the template lacks {{query}}, so every search would find the same. Known: ${list}.`,
  );
}

function ownPrompt({ query, question, answer, useful, documents, words }: Simulation): string {
  const quality = useful
    ? "Every document must help to answer the query: it states true facts that bear on it directly."
    : "No document may help to answer the query: each is about something close to it, reads as plausibly as a real page, and leaves the answer out.";
  const background =
    question === null
      ? []
      : [
          "",
          "Whoever searches is working on this question:",
          question,
          ...(answer === null ? [] : [`The answer to it is: ${answer}`]),
          "Use this only to judge what would help. Never mention the question.",
        ];
  return [
    "You stand in for a web search engine. Given a query, write the documents that its results page would show.",
    quality,
    ...background,
    "",
    `Write exactly ${documents} documents of about ${words} words each, one a line, numbered like this:`,
    "Doc 1: …",
    "Doc 2: …",
    "Write nothing else.",
    "",
    `Query: ${query}`,
  ].join("\n");
}

import { ConfigError } from "../../base/errors.ts";
import { sha256 } from "../../base/files.ts";
import type { Hit } from "../retriever.ts";

/** The beginning of a document: "Doc 1:", "**Document 2** -", "[3]", "4." at the start of a line. */
const HEADING =
  /^[ \t>*#_]*(?:(?:doc(?:ument)?|passage|result)[ \t]*#?[ \t]*\d+[*_]*|\[\d+\]|\d+(?=[.)]))(?:[ \t]*\(title:[ \t]*(?<title>[^)\n]*)\))?[*_]*[ \t]*[:.)\-–—]?[*_]*[ \t]*/gim;

/**
 * The documents in a model's answer: the text between numbered headings. Fewer than requested, or none, is valid too;
 * reasoning in `<think>` is dropped. A title in parentheses after the number, as in Search-R1's passages, becomes the title.
 *
 * @returns at most k, best first by place (1 / place); ids are hashes of the text, equal documents appear once.
 * @example simulatedDocuments("Doc 1: Oslo is a city.\nDoc 2: It rains.", 5) // two hits
 */
export function simulatedDocuments(answer: string, k: number): Hit[] {
  const written = answer.replaceAll(/<think>[\s\S]*?(<\/think>|$)/g, "");
  const headings = [...written.matchAll(HEADING)];
  const hits: Hit[] = [];
  const seen = new Set<string>();
  headings.forEach((heading, i) => {
    const end = headings[i + 1]?.index ?? written.length;
    const text = written
      .slice(heading.index + heading[0].length, end)
      .replaceAll(/\s+/g, " ")
      .trim();
    if (text === "" || hits.length >= k) return;
    const title = (heading.groups?.["title"] ?? "").replaceAll('"', "").trim();
    const id = `simulated-${sha256(`${title}\n${text}`).slice(0, 16)}`;
    if (seen.has(id)) return;
    seen.add(id);
    hits.push({ id, title, text, score: 1 / (hits.length + 1) });
  });
  return hits;
}

/** What a simulated search engine is told. */
interface Simulation {
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
      `${path}: the template contains the unknown placeholder {{${unknown}}}. Known: ${list}.`,
    );
  }
  if (used.includes("query")) return template;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `${path}: the template lacks {{query}}, so every search would have the same result. Known: ${list}.`,
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

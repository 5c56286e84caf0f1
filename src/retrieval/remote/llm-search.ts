import { readText, sha256 } from "../../base/files.ts";
import { random, seedFrom } from "../../base/random.ts";
import { scheduled, valueAt } from "../../base/schedule.ts";
import { z } from "../../base/schema.ts";
import { chatClient, type ChatClient } from "../../http/chat.ts";
import { chatShape } from "../../http/chat-settings.ts";
import { allOrAbort } from "../../http/concurrency.ts";
import { defineRetriever, type SearchContext, type ContextPart, type Hit } from "../retriever.ts";
import { bestFirst, remoteFingerprint } from "./remote-results.ts";
import { ConfigError } from "../../base/errors.ts";

const NAME = "llm-search";

const options = z.strictObject({
  ...chatShape,
  /**
   * Probability that a search is answered with noise. ZeroSearch's curriculum:
   * `{ schedule: exponential, base: 4, from: 0, to: 0.5 }`. Outside training the first value holds.
   */
  noise: scheduled(z.number().min(0).max(1)).default(0),
  /** Of the draws between useful and noisy, and of the server's sampling. */
  seed: z.int().min(0).default(0),
  /** Words that a document is asked to have. */
  words: z.int().min(1).default(30),
  temperature: z.number().min(0).default(0.8),
  topP: z.number().min(0).max(1).default(1),
  /** Tokens of all documents of a search together. */
  maxTokens: z.int().min(1).default(600),
  /** File with another prompt: see `simulationPrompt`. */
  template: z.string().min(1).optional(),
});

type Settings = z.output<typeof options>;

/**
 * A language model that simulates a search engine: it writes k documents for a query, with instructions to be useful or, at a rate that may
 * increase over the run, noisy. It sees the question and the first accepted answer of the task, so use it for training only and
 * evaluate with a real engine.
 *
 * Source: ZeroSearch, arXiv 2505.04588. Different here: the released code takes question and answer from the batch by the
 * query's place among those still running, which is another sample's as soon as one has finished; here they are the
 * task's own. The draw depends on seed, task, query, step and on how often the task has asked it in that step, not on what
 * else runs. The prompt is in our own words.
 */
export const llmSearch = defineRetriever({
  name: NAME,
  summary: "A language model that writes useful or noisy documents: ZeroSearch's engine.",
  readsGold: true,
  options,
  async open(settings) {
    const { template: path } = settings;
    const template = path === undefined ? null : checkTemplate(await readText(path), path);
    const chat = chatClient(NAME, settings);
    const count = occurrences();
    const { template: _path, ...rest } = settings;
    const templateSha256 = template === null ? null : sha256(template);
    return {
      fingerprint: remoteFingerprint(NAME, { ...rest, templateSha256 }),
      reads: readBy(settings),
      async search(queries, k, { signal, contexts = [] } = {}) {
        signal?.throwIfAborted();
        if (k < 1) return queries.map(() => []);
        const searches = queries.map((query, i) => {
          const searchContext = contexts[i];
          return { query, k, searchContext, stream: count(query, searchContext) };
        });
        const simulator = { chat, settings, template };
        return allOrAbort(searches, (each, stop) => simulate(simulator, each, stop), signal);
      },
    };
  },
});

function readBy({ noise }: Settings): ContextPart[] {
  return typeof noise === "number" ? ["references"] : ["progress", "references"];
}

interface Search {
  query: string;
  k: number;
  searchContext: SearchContext | undefined;
  /** Names the draw. */
  stream: readonly (string | number)[];
}

async function simulate(
  simulator: { chat: ChatClient; settings: Settings; template: string | null },
  { query, k, searchContext, stream }: Search,
  signal: AbortSignal,
): Promise<Hit[]> {
  if (query.trim() === "") return [];
  const { chat, settings, template } = simulator;
  const { seed, noise, words, temperature, topP, maxTokens } = settings;
  const { step, totalSteps } = searchContext?.progress ?? { step: 0, totalSteps: 1 };
  const draw = random(seed)
    .derive(NAME, ...stream)
    .next();
  const useful = draw >= valueAt(noise, step, totalSteps);
  const { question = null, references: [answer = null] = [] } = searchContext?.task ?? {};
  const told = { query, question, answer, useful, documents: k, words };
  const { text } = await chat.complete({
    messages: [{ role: "user", content: simulationPrompt(told, template) }],
    temperature,
    topP,
    maxTokens,
    seed: seedFrom(seed, NAME, ...stream) >>> 1, // below 2³¹: servers take a signed number
    signal,
  });
  return bestFirst(simulatedDocuments(text, k), k);
}

/** Tells searches of one task for one query apart by how many came before within the step; a resumed run counts the same. */
function occurrences(): (
  query: string,
  searchContext: SearchContext | undefined,
) => (string | number)[] {
  let step = -1;
  const counts = new Map<string, number>();
  return (query, searchContext) => {
    const now = searchContext?.progress?.step ?? 0;
    if (now > step) {
      counts.clear();
      step = now;
    }
    const key = JSON.stringify([searchContext?.task.id ?? null, query, now]);
    const before = counts.get(key) ?? 0;
    counts.set(key, before + 1);
    return [searchContext?.task.id ?? "", query, now, before];
  };
}

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

interface Simulation {
  query: string;
  /** Of the task that asks; null where nobody does. */
  question: string | null;
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
function simulationPrompt(simulation: Simulation, template: string | null): string {
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
function checkTemplate(template: string, path: string): string {
  const known: readonly string[] = PLACEHOLDERS;
  const used = [...template.matchAll(/\{\{\s*(\w+)\s*\}\}/g)].map(([, name = ""]) => name);
  const unknown = used.find((name) => !known.includes(name));
  const list = known.map((name) => `{{${name}}}`).join(", ");
  if (unknown !== undefined)
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${path}: the template contains the unknown placeholder {{${unknown}}}. Known: ${list}.`,
    );
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

// Servers on loopback for the remote retrievers: made by hand from each engine's documentation, on a corpus of a few
// passages that they really search. Whoever has the real ones names them in the environment (see opensearch.test.ts).
import type { Passage } from "../../src/trajectory/task.ts";
import { type LocalServer, localServer, sendJson } from "./local-server.ts";

/** A toy embedding: one axis per word, and one that all texts share. */
const AXES = ["capital", "norway", "rain", "peru"];
export const DIMENSIONS = AXES.length + 1;

/** Counts of the axes' words in the text, then .1. */
export function embedWords(text: string): number[] {
  const words = text.toLowerCase().match(/\w+/g) ?? [];
  return [...AXES.map((axis) => words.filter((word) => word === axis).length), 0.1];
}

function dot(a: readonly number[], b: readonly number[]): number {
  return a.reduce((sum, value, i) => sum + value * b[i]!, 0);
}

/** Passages by the number of words that they share with the query; those without any are left out. */
function byWords(
  passages: readonly Passage[],
  query: string,
): { passage: Passage; score: number }[] {
  const words = new Set(query.toLowerCase().match(/\w+/g) ?? []);
  return passages
    .map((passage) => {
      const text = `${passage.title} ${passage.text}`.toLowerCase().match(/\w+/g) ?? [];
      return { passage, score: text.filter((word) => words.has(word)).length };
    })
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score);
}

/** `POST /v1/embeddings` as OpenAI documents it; the vectors come in reverse order, as the index beside each allows. */
export function embeddingsServer(): Promise<LocalServer> {
  return localServer(({ body }, response) => {
    const { input, model } = JSON.parse(body) as { input: string[]; model: string };
    const data = input.map((text, index) => ({
      object: "embedding",
      index,
      embedding: embedWords(text),
    }));
    const usage = { prompt_tokens: 1, total_tokens: 1 };
    sendJson(response, { object: "list", model, data: data.reverse(), usage });
  });
}

interface QdrantSearch {
  query: number[] | { text: string; model: string };
  using?: string;
  limit: number;
  with_payload: string[];
}

/**
 * A collection "passages" with a vector "words", made by hand by the shapes of Qdrant 1.20's REST API. Requests and replies of
 * count and query fit the models of its Python client of that version; of the collection's facts only those that are read
 * are there. Server-side inference knows one model, "toy".
 */
export function madeQdrant(
  passages: readonly Passage[],
  distance: "Dot" | "Euclid" = "Dot",
): Promise<LocalServer> {
  const vectors = passages.map(({ title, text }) => embedWords(`${title} ${text}`));
  const done = (result: unknown) => ({ result, status: "ok", time: 0.001 });
  const search = ({ query, limit, with_payload: keys }: QdrantSearch) => {
    const vector = Array.isArray(query) ? query : embedWords(query.text);
    const points = passages.map((passage, i) => {
      const { id, title, text } = passage;
      const fields: Record<string, string> = { id, title, text };
      const apart = vectors[i]!.map((value, axis) => value - vector[axis]!);
      return {
        id: i + 1,
        version: 0,
        score: distance === "Dot" ? dot(vector, vectors[i]!) : Math.sqrt(dot(apart, apart)),
        payload: Object.fromEntries(keys.map((key) => [key, fields[key]])),
      };
    });
    const sign = distance === "Dot" ? -1 : 1;
    return { points: points.sort((a, b) => sign * (a.score - b.score)).slice(0, limit) };
  };
  return localServer(({ method, url, body }, response) => {
    const route = `${method} ${url}`;
    if (route === "GET /collections/passages") {
      const params = { vectors: { words: { size: DIMENSIONS, distance } } };
      const facts = { status: "green", points_count: 2, segments_count: 1, config: { params } };
      sendJson(response, done(facts));
    } else if (route === "POST /collections/passages/points/count") {
      sendJson(response, done({ count: passages.length }));
    } else if (route === "POST /collections/passages/points/query/batch") {
      const { searches } = JSON.parse(body) as { searches: QdrantSearch[] };
      sendJson(response, done(searches.map(search)));
    } else {
      const error = "Not found: Collection `nope` doesn't exist!";
      sendJson(response, { status: { error }, time: 0 }, 404);
    }
  });
}

/** `POST /search` as serper.dev answers it. */
export function madeSerper(passages: readonly Passage[]): Promise<LocalServer> {
  return localServer(({ body }, response) => {
    const { q, page } = JSON.parse(body) as { q: string; page: number };
    const organic = byWords(passages, q).map(({ passage: { id, title, text } }, i) => ({
      title,
      link: `https://example.org/${id}`,
      snippet: text,
      position: i + 1,
    }));
    sendJson(response, {
      searchParameters: { q, type: "search", engine: "google" },
      organic: organic.slice((page - 1) * 10, page * 10),
      credits: 1,
    });
  });
}

/** A chat server whose model writes the passages that share words with the query's line of the prompt. */
export function simulatorServer(passages: readonly Passage[]): Promise<LocalServer> {
  return localServer(({ body }, response) => {
    const { messages } = JSON.parse(body) as { messages: { content: string }[] };
    const [, query = ""] = /^Query: (.*)$/m.exec(messages[0]!.content) ?? [];
    const lines = byWords(passages, query).map(({ passage }, i) => `Doc ${i + 1}: ${passage.text}`);
    const message = { role: "assistant", content: lines.join("\n") };
    sendJson(response, {
      choices: [{ index: 0, message, finish_reason: "stop" }],
      usage: { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 },
    });
  });
}

import { z } from "../base/schema.ts";
import type { ChatSettings } from "./chat-settings.ts";
import { optional } from "./chat-wire.ts";
import { httpClient } from "./client.ts";
import { modelKey } from "./api-key.ts";

/** Settings of an OpenAI-compatible embeddings server, checked. */
export type EmbeddingsSettings = Omit<ChatSettings, "tokenLimit">;

/** Embeds texts; returns vectors in the same order. */
export type Embed = (texts: readonly string[], signal?: AbortSignal) => Promise<Float32Array[]>;

/**
 * A client of `POST /embeddings` (vLLM, text-embeddings-inference, Ollama, OpenAI). Each call sends one request.
 *
 * @param name of the caller, for messages.
 * @throws {ConfigError} HTTP_KEY_MISSING as `modelKey`.
 */
export function embeddingsClient(name: string, settings: EmbeddingsSettings): Embed {
  const { baseUrl, model } = settings;
  const client = httpClient({
    name,
    url: baseUrl,
    settings,
    ...modelKey(`${name}.apiKeyEnv`, settings),
  });
  return async (texts, signal) => {
    if (texts.length === 0) return [];
    // In the order of the texts where a server sends no numbers.
    const item = z.object({ index: optional(z.int()), embedding: z.array(z.number()).min(1) });
    const data = z
      .array(item)
      .length(texts.length)
      .transform((items) => items.map((each, i) => ({ ...each, index: each.index ?? i })))
      .refine((items) => new Set(items.map(({ index }) => index)).size === items.length, {
        message: "expected each index once",
      })
      .refine((items) => new Set(items.map(({ embedding }) => embedding.length)).size === 1, {
        message: "expected vectors of one length",
      });
    const { value } = await client.json(
      {
        path: "/embeddings",
        body: { model, input: texts, encoding_format: "float" },
        idempotent: true,
        signal,
      },
      z.object({ data }),
    );
    return value.data
      .sort((a, b) => a.index - b.index)
      .map(({ embedding }) => Float32Array.from(embedding));
  };
}

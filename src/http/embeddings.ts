import { z } from "../base/schema.ts";
import type { ChatSettings } from "./chat-settings.ts";
import { httpClient } from "./client.ts";
import { modelKey } from "./api-key.ts";

/** How to ask an OpenAI-compatible server for vectors, checked. */
export type EmbeddingsSettings = Omit<ChatSettings, "tokenLimit">;

/** Vectors of texts, in order. */
export type Embed = (texts: readonly string[], signal?: AbortSignal) => Promise<Float32Array[]>;

/**
 * A client of `POST /embeddings` (vLLM, text-embeddings-inference, Ollama, OpenAI). All texts of a call travel in one request.
 *
 * @param name who asks, for messages.
 * @throws {ConfigError} HTTP_KEY_MISSING when the variable is not set; a server on this machine is then asked without a key.
 */
export function embeddingsClient(name: string, settings: EmbeddingsSettings): Embed {
  const { baseUrl, model } = settings;
  const client = httpClient({ name, url: baseUrl, settings, ...modelKey(name, settings) });
  return async (texts, signal) => {
    if (texts.length === 0) return [];
    const item = z.object({ index: z.int(), embedding: z.array(z.number()).min(1) });
    const { value } = await client.json(
      {
        path: "/embeddings",
        body: { model, input: texts, encoding_format: "float" },
        idempotent: true,
        signal,
      },
      z.object({ data: z.array(item).length(texts.length) }),
    );
    return value.data
      .sort((a, b) => a.index - b.index)
      .map(({ embedding }) => Float32Array.from(embedding));
  };
}

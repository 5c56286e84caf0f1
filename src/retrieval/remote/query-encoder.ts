import { choice, z } from "../../base/schema.ts";
import { chatShape } from "../../http/chat-settings.ts";
import { type Embed, embeddingsClient } from "../../http/embeddings.ts";
import { openEncoder } from "../dense/encoder.ts";
import { encoderOptions } from "../dense/encoder-settings.ts";

const { tokenLimit: _chatOnly, ...serverShape } = chatShape;

const servedEncoder = z.strictObject({
  ...serverShape,
  /** Put before each query, as the model was trained: "query: " for E5. */
  queryPrefix: z.string().default(""),
});

const localEncoder = encoderOptions.extend({
  /** A folder in Hugging Face layout, or a hub name: see `openEncoder`. */
  model: z.string().min(1),
});

type Served = z.output<typeof servedEncoder>;
type Local = z.output<typeof localEncoder>;

/**
 * The option of an engine that takes vectors: what makes a query's. With `baseUrl` an OpenAI-compatible embeddings server,
 * without it a model that runs here.
 */
export const encoderOption: z.ZodType<Served | Local> = choice<Served | Local>((given) => {
  const served = typeof given === "object" && given !== null && "baseUrl" in given;
  return { schema: served ? servedEncoder : localEncoder, value: given };
});

export interface QueryEncoder {
  /** Its part of the retriever's fingerprint: a model's own, or the address and name of one that is served. */
  readonly identity: unknown;
  /** In order; equal lengths. */
  embed: Embed;
  close(): Promise<void>;
}

/**
 * @param name who asks, for messages.
 * @throws {ConfigError} HTTP_KEY_MISSING; what `openEncoder` throws.
 */
export async function openQueryEncoder(
  name: string,
  settings: Served | Local,
): Promise<QueryEncoder> {
  if ("baseUrl" in settings) {
    const { queryPrefix } = settings;
    const embed = embeddingsClient(name, settings);
    return {
      identity: settings,
      embed: (queries, signal) =>
        embed(
          queries.map((query) => queryPrefix + query),
          signal,
        ),
      close: () => Promise.resolve(),
    };
  }
  const { model, ...options } = settings;
  const encoder = await openEncoder(model, options);
  return {
    identity: encoder.fingerprint,
    embed: async (queries, signal) => {
      const vectors = await encoder.encodeQueries(queries, signal);
      const { dimensions } = encoder;
      return queries.map((_, i) => vectors.subarray(i * dimensions, (i + 1) * dimensions));
    },
    close: () => encoder.close(),
  };
}

import { z } from "../../base/schema.ts";
import { chatShape } from "../../http/chat.ts";
import { type Embed, embeddingsClient } from "../../http/embeddings.ts";

const { tokenLimit: _chatOnly, ...serverShape } = chatShape;

/** The option of an engine that turns queries into vectors before it asks: an OpenAI-compatible embeddings server. */
export const encoderOption = z.strictObject({
  ...serverShape,
  /** Put before each query, as the model was trained: "query: " for E5. */
  queryPrefix: z.string().default(""),
});

/** Vectors of queries, in order; equal lengths. */
export function queryEncoder(name: string, settings: z.output<typeof encoderOption>): Embed {
  const embed = embeddingsClient(name, settings);
  return (queries, signal) =>
    embed(
      queries.map((query) => settings.queryPrefix + query),
      signal,
    );
}

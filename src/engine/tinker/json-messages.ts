import { plainList, shortList, wholeNumbers, z } from "../../base/schema.ts";
import { optional } from "../../http/chat-wire.ts";
import type { ForwardBackwardCall, ForwardBackwardReply, SampleReply } from "./messages.ts";

const numbers = plainList(
  (item): item is number | null => item === null || typeof item === "number",
  "a number",
).transform((list) => list.map((value) => value ?? NaN));
/** Rows of a batch, and pieces of a row's text: far more than a batch has. */
const MOST_ROWS = 16_384;
const MOST_CHUNKS = 64;

const tokenChunk = z.object({ type: z.literal("encoded_text"), tokens: wholeNumbers });

/** Token ids, in pieces. */
export const tokenChunks = z.object({ chunks: shortList(z.array(tokenChunk), MOST_CHUNKS) });

const tensor = z.object({ data: numbers });

/** Input of `forward_backward` and of `forward`. */
const input = z.object({
  data: shortList(
    z.array(z.object({ model_input: tokenChunks, loss_fn_inputs: z.record(z.string(), tensor) })),
    MOST_ROWS,
  ),
  loss_fn: z.string(),
  loss_fn_config: z.record(z.string(), z.number()).nullish(),
});

/** The body of `forward_backward` (or `forward`) in JSON. */
export const callSchema = z.object({
  model_id: z.string(),
  seq_id: z.int().nullish(),
  forward_backward_input: input.optional(),
  forward_input: input.optional(),
});

export function jsonCall(call: ForwardBackwardCall): object {
  const data = call.rows.map(({ tokens, fields }) => ({
    model_input: { chunks: [{ type: "encoded_text", tokens }] },
    loss_fn_inputs: Object.fromEntries(
      Object.entries(fields).map(([name, values]) => {
        const dtype = name === "target_tokens" ? "int64" : "float32";
        return [name, { data: values, dtype, shape: [values.length] }];
      }),
    ),
  }));
  const config =
    Object.keys(call.config).length === 0 ? {} : { loss_fn_config: { ...call.config } };
  const body = { data, loss_fn: call.lossFn, ...config };
  const key = call.forwardOnly ? "forward_input" : "forward_backward_input";
  return { model_id: call.modelId, seq_id: call.seqId, [key]: body };
}

export function callOfJson(body: z.output<typeof callSchema>): ForwardBackwardCall | null {
  const given = body.forward_backward_input ?? body.forward_input;
  if (given === undefined) return null;
  return {
    modelId: body.model_id,
    seqId: body.seq_id ?? 0,
    rows: given.data.map(({ model_input, loss_fn_inputs }) => ({
      tokens: model_input.chunks.flatMap(({ tokens }) => tokens),
      fields: Object.fromEntries(
        Object.entries(loss_fn_inputs).map(([name, { data }]) => [name, data]),
      ),
    })),
    lossFn: given.loss_fn,
    config: given.loss_fn_config ?? {},
    forwardOnly: body.forward_backward_input === undefined,
  };
}

export const replySchema = z.object({
  loss_fn_outputs: z.array(z.record(z.string(), tensor)),
  // Statistics alone: NaN arrives as null.
  metrics: optional(z.record(z.string(), z.unknown())),
});

export function replyOfJson(reply: z.output<typeof replySchema>): ForwardBackwardReply {
  return {
    outputs: reply.loss_fn_outputs.map((row) =>
      Object.fromEntries(Object.entries(row).map(([name, { data }]) => [name, data])),
    ),
    metrics: Object.fromEntries(
      Object.entries(reply.metrics ?? {}).filter(
        (entry): entry is [string, number] => typeof entry[1] === "number",
      ),
    ),
  };
}

export function jsonReply({ outputs, metrics }: ForwardBackwardReply): object {
  const loss_fn_outputs = outputs.map((row) =>
    Object.fromEntries(
      Object.entries(row).map(([name, data]) => [
        name,
        { data, dtype: "float32", shape: [data.length] },
      ]),
    ),
  );
  const type = "forward_backward";
  return { loss_fn_output_type: "ArrayRecord", loss_fn_outputs, metrics, type };
}

export const sampleSchema = z.object({
  sequences: z.array(
    z.object({
      tokens: z.array(z.int()),
      logprobs: numbers.nullish(),
      stop_reason: z.enum(["stop", "length"]),
    }),
  ),
  prompt_logprobs: numbers.nullish(),
});

export function sampleOfJson(reply: z.output<typeof sampleSchema>): SampleReply {
  return {
    sequences: reply.sequences.map(({ tokens, logprobs, stop_reason }) => ({
      tokens,
      logprobs: logprobs ?? [],
      stopReason: stop_reason,
    })),
    promptLogprobs: reply.prompt_logprobs ?? null,
  };
}

export function jsonSample({ sequences, promptLogprobs }: SampleReply): object {
  const prompt =
    promptLogprobs === null
      ? {}
      : { prompt_logprobs: promptLogprobs.map((value) => (Number.isNaN(value) ? null : value)) };
  return {
    sequences: sequences.map(({ tokens, logprobs, stopReason }) => ({
      tokens,
      logprobs,
      stop_reason: stopReason,
    })),
    ...prompt,
    type: "sample",
  };
}

import { ConfigError, DataError, ExternalError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import type { SampleRequest, SampleResult } from "../engine.ts";
import { stopText } from "../local/stop-text.ts";
import type { Dialect } from "./dialect.ts";
import { sampleOfJson, sampleSchema } from "./json-messages.ts";
import { decodeSample, type SampledSequence } from "./messages.ts";
import type { RemoteModel, RemoteSession } from "./remote-model.ts";

/** Draws from weights that do not change. */
export type Draw = (request: SampleRequest) => Promise<SampleResult>;

/** Where completions are drawn. */
export interface RemoteSampling {
  weightsOf(model: RemoteModel, version: number): Promise<Draw>;
  close(): Promise<void>;
}

/** What a request must fit, and the text of tokens. */
export type SamplingLimits = { tokenizer: Pick<Tokenizer, "bytes">; maxPositions: number };

const submitted = z.object({ request_id: z.union([z.string(), z.number()]).transform(String) });

/** Draws at the training server. */
export function remoteSampling(
  { connection, dialect }: RemoteSession,
  limits: SamplingLimits,
): RemoteSampling {
  let drawn = 0;
  return {
    async weightsOf(model) {
      const source = await model.sampler();
      return async (request) => {
        const maxTokens = roomOf(request, limits);
        const { request_id } = await connection.call("asample", submitted, {
          body: {
            num_samples: 1,
            prompt: { chunks: [{ type: "encoded_text", tokens: request.promptIds }] },
            sampling_params: {
              max_tokens: maxTokens,
              seed: request.seed % dialect.seeds,
              temperature: request.temperature,
              top_p: request.topP,
              top_k: request.topK === 0 ? -1 : request.topK,
              ...minPOf(request, dialect),
              stop: stopOf(request, limits.tokenizer),
            },
            ...source,
            seq_id: "sampling_session_id" in source ? drawn++ : undefined,
            type: "sample",
          },
        });
        const answer = await connection.future(request_id);
        const { bytes, json } = answer;
        const reply = json == null ? decodeSample(bytes) : sampleOfJson(sampleSchema.parse(json));
        const [sequence] = reply.sequences;
        if (sequence?.tokens.length === sequence?.logprobs.length && sequence !== undefined)
          return cutAtStop(sequence, request, limits.tokenizer);
        const message = `${connection.where}, asample: the result has ${sequence?.tokens.length ?? "no"} tokens and ${sequence?.logprobs.length ?? "no"} log-probabilities. Training needs one for each token; check the server.`;
        throw new ExternalError("HTTP_BAD_REPLY", message);
      };
    },
    close: () => Promise.resolve(),
  };
}

/** The tokens that a completion may have. @throws {DataError} PROMPT_TOO_LONG @throws {ConfigError} ENGINE_UNFIT for a token bias. */
export function roomOf(
  { promptIds, logitBias, maxTokens }: SampleRequest,
  { maxPositions }: SamplingLimits,
): number {
  if (promptIds.length === 0 || promptIds.length >= maxPositions) {
    const message = `the prompt has ${promptIds.length} tokens, but this model's ${maxPositions} positions allow 1 to ${maxPositions - 1}. Shorten observations or turns.`;
    throw new DataError("PROMPT_TOO_LONG", message);
  }
  if (logitBias !== undefined && Object.keys(logitBias).length > 0) {
    const message = `a request biases the scores of tokens (${Object.keys(logitBias).slice(0, 3).join(", ")}, …), which remote servers cannot do with exact log-probabilities. Remove what asks for it, or use engine.name: local.`;
    throw new ConfigError("ENGINE_UNFIT", message);
  }
  return Math.min(maxTokens, maxPositions - promptIds.length);
}

/** @throws {ConfigError} ENGINE_UNFIT where the server would ignore it. */
function minPOf({ minP = 0 }: SampleRequest, dialect: Dialect): { min_p?: number } {
  if (minP === 0) return {};
  if (dialect.minP) return { min_p: minP };
  const message = `sampling.minP is ${minP}: a ${dialect.name} server has no min-p. Remove sampling.minP, or use agentrl serve engine, or engine.name: local.`;
  throw new ConfigError("ENGINE_UNFIT", message);
}

/** Servers take ids or strings, not both: ids where there are no strings, else strings with the texts of the ids. */
function stopOf(
  { stopIds, stopStrings }: SampleRequest,
  tokenizer: Pick<Tokenizer, "bytes">,
): unknown {
  if (stopStrings.length === 0) return stopIds;
  const texts = stopIds.map((id) => new TextDecoder().decode(tokenizer.bytes(id)));
  return [...stopStrings, ...texts.filter((text) => text !== "")];
}

/**
 * A server's text is cut again, because servers differ in which stop conditions they honour. The completion up to the first stop id, or up to the token that completes a stop string; that token is its last.
 * @example cutAtStop({ tokens: [5, 2, 7], … }, { stopIds: [2], … }, tokenizer).ids // [5, 2]
 */
export function cutAtStop(
  { tokens, logprobs, stopReason }: SampledSequence,
  { maxTokens, stopIds, stopStrings }: Pick<SampleRequest, "maxTokens" | "stopIds" | "stopStrings">,
  tokenizer: Pick<Tokenizer, "bytes">,
): SampleResult {
  const stop = stopText(stopStrings);
  const upTo = (count: number, finish: SampleResult["finish"]): SampleResult => ({
    ids: tokens.slice(0, count),
    logprobs: logprobs.slice(0, count),
    finish,
  });
  for (const [i, id] of tokens.slice(0, maxTokens).entries()) {
    if (stopIds.includes(id)) return upTo(i + 1, "eos");
    if (stop.push(tokenizer.bytes(id))) return upTo(i + 1, "stop");
  }
  const count = Math.min(tokens.length, maxTokens);
  return upTo(count, stopReason === "stop" && count < maxTokens ? "eos" : "length");
}

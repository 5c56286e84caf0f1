import { z } from "../base/schema.ts";
import type { ChatSettings } from "./chat-settings.ts";
import type { DrawRequest, ReplyTimes, TokenLogprob, TokenUsage } from "./chat-messages.ts";
import { finishReason, keptShape, optional, tokensOf, usage } from "./chat-wire.ts";
import type { Caller } from "./caller.ts";
import type { HttpEnvironment } from "./endpoint.ts";
import { streamedReply, type StreamedReply } from "./event-stream.ts";
import type { Meter } from "./meter.ts";
import { modelServer } from "./model-server.ts";

export interface CompletionRequest extends DrawRequest {
  /** Text, or token ids for servers that accept them. */
  prompt: string | readonly number[];
}

export interface CompletionReply extends ReplyTimes {
  text: string;
  /** `stop`, `length`, …; null when the server does not send it. */
  finishReason: string | null;
  /** Null when the server does not count. */
  usage: TokenUsage | null;
  /** Only if requested and sent. */
  logprobs?: TokenLogprob[];
}

export interface CompletionsClient {
  /**
   * Requests one completion. A retry may be billed twice, but sampling has no other effect, so it counts as idempotent.
   * @throws {ExternalError} HTTP_TIMEOUT, HTTP_UNREACHABLE, HTTP_CUT, HTTP_STATUS, HTTP_CONTEXT_LENGTH, HTTP_BAD_REPLY.
   */
  complete(request: CompletionRequest): Promise<CompletionReply>;
  /** Counts of all requests so far. */
  readonly meter: Meter;
}

const logprobsSchema = optional(
  z.object({
    tokens: z.array(z.string()).nullish(),
    token_logprobs: z.array(z.number().nullable()).nullish(),
    // llama.cpp answers in the format of a chat.
    content: z.array(z.object({ token: z.string(), logprob: z.number() })).nullish(),
  }),
);

const choiceShape = {
  index: optional(z.int()),
  finish_reason: finishReason,
  logprobs: logprobsSchema,
};

/** A non-streamed reply. */
const wholeSchema = z.object({
  choices: z.array(z.object({ ...choiceShape, text: z.string().nullable() })).min(1),
  usage,
});

/** A piece of a streamed one. */
const pieceSchema = z.object({
  choices: z.array(z.object({ ...choiceShape, text: z.string().nullish() })).nullish(),
  usage,
});

const keptReply: z.ZodType<CompletionReply> = z.object(keptShape);

type Piece = z.output<typeof pieceSchema>;

/**
 * A client of `POST /completions`: sends the prompt unchanged, without the server's chat template.
 *
 * @param caller for messages.
 * @throws {ConfigError} HTTP_KEY_MISSING as `modelKey`.
 */
export function completionsClient(
  caller: string | Caller,
  settings: ChatSettings,
  environment?: HttpEnvironment,
): CompletionsClient {
  const server = modelServer(caller, settings, environment);
  return {
    meter: server.meter,
    complete(request) {
      const isStreamed = request.stream ?? settings.stream ?? false;
      return server.ask({
        path: "/completions",
        body: completionBody(settings.model, request, isStreamed),
        maxTokens: request.maxTokens,
        schema: wholeSchema,
        whole: (value, totalMs) => {
          const pieces = completionPieces();
          pieces.take(value, null);
          return pieces.reply(totalMs);
        },
        kept: keptReply,
        streamed: isStreamed ? completionStream : null,
        signal: request.signal,
      });
    },
  };
}

function completionBody(
  model: string,
  request: CompletionRequest,
  stream: boolean,
): Record<string, unknown> {
  return {
    model,
    prompt: request.prompt,
    temperature: request.temperature,
    top_p: request.topP,
    max_tokens: request.maxTokens,
    stop: request.stop,
    seed: request.seed,
    logprobs: request.logprobs === true ? 1 : undefined,
    stream,
    stream_options: stream ? { include_usage: true } : undefined,
    ...request.extra,
  };
}

function completionStream(): StreamedReply<CompletionReply> {
  return streamedReply(pieceSchema, completionPieces());
}

function completionPieces() {
  let text = "";
  let finish: string | null = null;
  let counted: TokenUsage | null = null;
  let firstTokenMs: number | null = null;
  const logprobs: TokenLogprob[] = [];
  return {
    /** @param afterMs null for a non-streamed reply. */
    take({ choices, usage: now }: Piece, afterMs: number | null): void {
      counted = tokensOf(now) ?? counted;
      const choice = choices?.find(({ index }) => (index ?? 0) === 0);
      const said = choice?.text ?? "";
      text += said;
      if (said !== "") firstTokenMs ??= afterMs;
      finish = choice?.finish_reason ?? finish;
      logprobs.push(...tokenLogprobs(choice?.logprobs ?? null));
    },
    isOver: (): boolean => finish !== null,
    reply: (totalMs: number): CompletionReply => ({
      text,
      finishReason: finish,
      usage: counted,
      logprobs: logprobs.length === 0 ? undefined : logprobs,
      firstTokenMs,
      totalMs,
    }),
  };
}

/** Omits an echoed first token, which has no log-probability. */
function tokenLogprobs(given: z.output<typeof logprobsSchema>): TokenLogprob[] {
  const { tokens, token_logprobs: values, content } = given ?? {};
  if (content != null) return content;
  return (tokens ?? []).flatMap((token, i) => {
    const logprob = values?.[i];
    return typeof logprob === "number" ? [{ token, logprob }] : [];
  });
}

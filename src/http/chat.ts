import {
  chatBody,
  chatReply,
  keptChatReply,
  replySchema,
  chatLogprobs,
  finishReason,
  messageSchema,
  optional,
  tokensOf,
  usage,
} from "./chat-wire.ts";
import type { Caller } from "./caller.ts";
import type { HttpEnvironment } from "./endpoint.ts";
import type { Meter } from "./meter.ts";
import { modelServer } from "./model-server.ts";
import type {
  ChatReply,
  ChatRequest,
  TokenLogprob,
  TokenUsage,
  ToolCall,
} from "./chat-messages.ts";
import type { ChatSettings } from "./chat-settings.ts";
import { z } from "../base/schema.ts";
import { streamedReply, type StreamedReply } from "./event-stream.ts";

/** One event of a streamed chat. Some servers send the whole message as one piece. */
const pieceSchema = z.object({
  choices: z
    .array(
      z
        .object({
          index: optional(z.int()),
          delta: messageSchema.nullish(),
          message: messageSchema.nullish(),
          finish_reason: finishReason,
          logprobs: chatLogprobs,
        })
        .transform(({ delta, message, ...choice }) => ({ ...choice, piece: delta ?? message })),
    )
    .nullish(),
  usage,
});

type Piece = z.output<typeof pieceSchema>;
type CallPiece = z.output<typeof messageSchema>["calls"][number];

function chatStream(): StreamedReply<ChatReply> {
  let text = "";
  let reasoning = "";
  let finish: string | null = null;
  let counted: TokenUsage | null = null;
  let firstTokenMs: number | null = null;
  let logprobs: TokenLogprob[] | null = null;
  const calls = callsInPieces();
  return streamedReply(pieceSchema, {
    take({ choices, usage: now }: Piece, afterMs) {
      counted = tokensOf(now) ?? counted;
      const choice = choices?.find(({ index }) => (index ?? 0) === 0);
      if (choice === undefined) return;
      const { text: said = "", reasoning: thought = "", calls: called = [] } = choice.piece ?? {};
      text += said;
      reasoning += thought;
      for (const call of called) calls.take(call);
      if (choice.logprobs?.content != null) (logprobs ??= []).push(...choice.logprobs.content);
      finish = choice.finish_reason ?? finish;
      if (said !== "" || thought !== "" || called.length > 0) firstTokenMs ??= afterMs;
    },
    isOver: () => finish !== null,
    reply: (totalMs) => ({
      text,
      reasoning: reasoning === "" ? undefined : reasoning,
      toolCalls: calls.whole(),
      finishReason: finish,
      usage: counted,
      logprobs: logprobs ?? undefined,
      firstTokenMs,
      totalMs,
    }),
  });
}

/**
 * Calls arrive in pieces with an index. Some servers send no index, and some send the same index for every call: there, a new id
 * starts a new call.
 */
function callsInPieces(): { take(piece: CallPiece): void; whole(): ToolCall[] } {
  const calls: (ToolCall & { place: number })[] = [];
  return {
    take({ index, id, function: piece }) {
      const place = index ?? (id === null ? (calls.at(-1)?.place ?? 0) : calls.length);
      const open = calls.findLast((call) => call.place === place);
      const isNew =
        open === undefined || (id !== null && id !== "" && open.id !== "" && id !== open.id);
      const call = isNew ? { place, id: "", name: "", arguments: "" } : open;
      if (isNew) calls.push(call);
      if (call.id === "") call.id = id ?? "";
      if (call.name === "") call.name = piece.name;
      call.arguments += piece.arguments;
    },
    whole: () =>
      calls.map(({ place: _place, id, ...call }, i) => ({
        id: id === "" ? `call_${i}` : id,
        ...call,
      })),
  };
}

export interface ChatClient {
  /**
   * Requests one completion. A retry may be billed twice, but sampling has no other effect, so it counts as idempotent.
   * A reply without text and without calls is not an error here: `finishReason` gives the reason.
   * @throws {ExternalError} HTTP_TIMEOUT, HTTP_UNREACHABLE, HTTP_CUT, HTTP_STATUS, HTTP_CONTEXT_LENGTH, HTTP_BAD_REPLY.
   */
  complete(request: ChatRequest): Promise<ChatReply>;
  /** Counts of all requests so far. */
  readonly meter: Meter;
}

/**
 * A client of `POST /chat/completions`.
 *
 * @param caller for messages.
 * @throws {ConfigError} HTTP_KEY_MISSING as `modelKey`.
 */
export function chatClient(
  caller: string | Caller,
  settings: ChatSettings,
  environment?: HttpEnvironment,
): ChatClient {
  const server = modelServer(caller, settings, environment);
  return {
    meter: server.meter,
    complete(request) {
      const isStreamed = request.stream ?? settings.stream ?? false;
      return server.ask({
        path: "/chat/completions",
        body: chatBody(settings, request, isStreamed),
        maxTokens: request.maxTokens,
        schema: replySchema,
        whole: chatReply,
        kept: keptChatReply,
        streamed: isStreamed ? chatStream : null,
        signal: request.signal,
      });
    },
  };
}

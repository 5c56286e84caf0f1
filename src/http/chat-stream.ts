import { z } from "../base/schema.ts";
import type { ChatReply, TokenLogprob, TokenUsage, ToolCall } from "./chat-messages.ts";
import { argumentsText, contentText, logprobsSchema, tokensOf, usageSchema } from "./chat-wire.ts";
import { streamedReply, type StreamedReply } from "./event-stream.ts";

const callPieceSchema = z.object({
  index: z.int().nullish(),
  id: z.string().nullish(),
  function: z.object({ name: z.string().nullish(), arguments: argumentsText }).nullish(),
});

/** One event of a streamed chat. */
const pieceSchema = z.object({
  choices: z
    .array(
      z.object({
        index: z.int().nullish(),
        delta: z
          .object({
            content: contentText,
            reasoning_content: z.string().nullish(),
            reasoning: z.string().nullish(),
            tool_calls: z.array(callPieceSchema).nullish(),
          })
          .nullish(),
        finish_reason: z.string().nullish(),
        logprobs: logprobsSchema.nullish(),
      }),
    )
    .nullish(),
  usage: usageSchema.nullish(),
});

type Piece = z.output<typeof pieceSchema>;
type CallPiece = z.output<typeof callPieceSchema>;

/** Assembles a streamed chat reply. */
export function chatStream(): StreamedReply<ChatReply> {
  let text = "";
  let reasoning = "";
  let finishReason: string | null = null;
  let usage: TokenUsage | null = null;
  let firstTokenMs: number | null = null;
  let logprobs: TokenLogprob[] | null = null;
  const calls = callsInPieces();
  return streamedReply(pieceSchema, {
    take(piece: Piece, afterMs) {
      usage = tokensOf(piece.usage) ?? usage;
      const choice = piece.choices?.find(({ index }) => (index ?? 0) === 0);
      if (choice === undefined) return;
      const { delta } = choice;
      const content = delta?.content ?? "";
      const thought = delta?.reasoning_content ?? delta?.reasoning ?? "";
      text += content;
      reasoning += thought;
      for (const call of delta?.tool_calls ?? []) calls.take(call);
      if (choice.logprobs?.content != null) (logprobs ??= []).push(...choice.logprobs.content);
      finishReason = choice.finish_reason ?? finishReason;
      const isSaid = content !== "" || thought !== "" || (delta?.tool_calls?.length ?? 0) > 0;
      if (isSaid) firstTokenMs ??= afterMs;
    },
    isOver: () => finishReason !== null,
    reply: (totalMs) => ({
      text,
      ...(reasoning === "" ? {} : { reasoning }),
      toolCalls: calls.whole(),
      finishReason,
      usage,
      ...(logprobs === null ? {} : { logprobs }),
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
      const place = index ?? (id == null ? (calls.at(-1)?.place ?? 0) : calls.length);
      const open = calls.findLast((call) => call.place === place);
      const isNew =
        open === undefined || (id != null && id !== "" && open.id !== "" && id !== open.id);
      const call = isNew ? { place, id: "", name: "", arguments: "" } : open;
      if (isNew) calls.push(call);
      if (call.id === "") call.id = id ?? "";
      if (call.name === "") call.name = piece?.name ?? "";
      call.arguments += piece?.arguments ?? "";
    },
    whole: () =>
      calls.map(({ place: _place, id, ...call }, i) => ({
        id: id === "" ? `call_${i}` : id,
        ...call,
      })),
  };
}

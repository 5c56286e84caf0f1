import { ExternalError, RolloutError } from "../../base/errors.ts";
import { budgetOf } from "../../env/budget.ts";
import { seedFrom } from "../../base/random.ts";
import type { DrawRequest, TokenUsage } from "../../http/chat.ts";
import type { Call, Segment } from "../../trajectory/trajectory.ts";
import type { DialogueSetting, Message, MessageEnding, Said } from "../dialogue.ts";
import { beginningOf } from "../policy.ts";
import type { EndpointSettings } from "./endpoint-policy.ts";
import { DEFAULT_TURN_TOKENS } from "../token-dialogue.ts";

/** What a server gave for one message. */
export interface RemoteReply {
  text: string;
  reasoning?: string;
  finishReason: string | null;
  usage: TokenUsage | null;
  firstTokenMs: number | null;
}

/** Where a dialogue with a server stands. */
export interface RemotePlace {
  /** Index of its last call; null before the first. */
  last: number | null;
  messages: number;
  /** Tokens of the whole conversation, as the server counted them last; 0 where it does not. */
  tokens: number;
}

/** How the next message is drawn. */
export function drawRequest(
  { budgets, ending: { stopStrings }, sampling, seed }: DialogueSetting,
  { extra }: Pick<EndpointSettings, "extra">,
  { messages }: RemotePlace,
): DrawRequest {
  const { temperature, topP, topK } = sampling;
  return {
    ...{ temperature, topP, seed: seedFrom(seed, messages) },
    maxTokens: budgetOf(budgets, "turn")?.limit ?? DEFAULT_TURN_TOKENS,
    ...(stopStrings.length === 0 ? {} : { stop: stopStrings }),
    // Servers that have it know it by this name; it is none of OpenAI's.
    extra: { ...(topK > 0 ? { top_k: topK } : {}), ...extra },
  };
}

/** Whether the conversation has used its budget up; a server's own limit is its own to tell. */
export function contextFull({ budgets }: DialogueSetting, { tokens }: RemotePlace): boolean {
  return tokens >= (budgetOf(budgets, "context")?.limit ?? Infinity);
}

/**
 * Asks a server. What it refuses because the conversation has grown too long for it is no failure.
 *
 * @returns null when its context is full.
 * @throws {RolloutError} under the code of the request's failure.
 */
export async function askServer<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ExternalError)) throw error;
    if (error.code === "HTTP_CONTEXT_LENGTH") return null;
    throw new RolloutError(error.code, error.message, { cause: error });
  }
}

/**
 * Records a server's message as a call, cut as its protocol says.
 *
 * Servers leave out the text that stopped them; where the message is complete only with one, it is put back.
 *
 * @param reply.text with calls of tools written into it.
 * @throws {RolloutError} COMPLETION_FILTERED, COMPLETION_EMPTY: nothing that could be judged.
 */
export function recordReply(
  setting: DialogueSetting,
  place: RemotePlace,
  reply: RemoteReply,
  said: readonly Said[],
): Message {
  const { calls, ending, onFirstToken } = setting;
  const { finishReason, usage, reasoning, firstTokenMs } = reply;
  if (finishReason === "content_filter") {
    throw new RolloutError("COMPLETION_FILTERED", "the server's own filter withheld the message.");
  }
  if (reply.text.trim() === "" && finishReason !== "length" && !endedAtOnce(reply)) {
    throw new RolloutError(
      "COMPLETION_EMPTY",
      `the server gave a message without text (finish_reason ${JSON.stringify(finishReason)}).`,
    );
  }
  if (firstTokenMs !== null) onFirstToken?.(firstTokenMs);
  const whole = finishReason === "length" ? reply.text : withStop(reply.text, setting);
  const text = cut(whole, ending);
  const stopped = text.length < reply.text.length || whole.length > reply.text.length;
  calls.push({
    ...{ parent: place.last, role: "policy", policyVersion: null, prompt: said.map(segmentOf) },
    completion: [{ owner: "policy", ids: [], logprobs: null, text }],
    finish: finishReason === "length" && !stopped ? "length" : stopped ? "stop" : "eos",
    ...(usage === null ? {} : { usage }),
    ...(reasoning === undefined ? {} : { reasoning }),
  } satisfies Call);
  place.last = calls.length - 1;
  place.messages += 1;
  place.tokens = usage === null ? 0 : usage.promptTokens + usage.completionTokens;
  return { text, call: place.last };
}

/** Whether the model itself wrote nothing but its end. A server that counts more has kept text to itself; one that counts none may have. */
function endedAtOnce({ usage, reasoning }: RemoteReply): boolean {
  return usage !== null && usage.completionTokens === 1 && reasoning === undefined;
}

/** What was said, as much of it as may be shown. */
export function shownText({
  text,
  maxTokens = Infinity,
}: Pick<Said, "text" | "maxTokens">): string {
  return beginningOf(text, maxTokens);
}

function segmentOf(said: Said): Segment {
  return { owner: said.owner, ids: [], logprobs: null, text: shownText(said) };
}

function cut(text: string, { findCut }: MessageEnding): string {
  return text.slice(0, findCut(text) ?? undefined);
}

/** The message with the stop text that completes it, where one does. */
function withStop(text: string, { ending, protocol }: DialogueSetting): string {
  if (ending.findCut(text) !== null || protocol.parse(text).actions.length > 0) return text;
  const complete = ending.stopStrings.find(
    (stop) => protocol.parse(text + stop).actions.length > 0,
  );
  return text + (complete ?? "");
}

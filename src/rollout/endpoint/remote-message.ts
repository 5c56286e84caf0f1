import { ExternalError, RolloutError } from "../../base/errors.ts";
import { seedFrom } from "../../base/random.ts";
import { type BudgetNow, budgetOf } from "../../env/budget.ts";
import type { Protocol } from "../../env/protocols/protocol.ts";
import type { DrawRequest, TokenUsage } from "../../http/chat-messages.ts";
import type { PrefixMessage } from "../../trajectory/task.ts";
import type { Call, CallFinish, Segment } from "../../trajectory/trajectory.ts";
import {
  type DialogueSetting,
  type Input,
  type Message,
  type MessageEnding,
  sentStops,
} from "../dialogue.ts";
import { type TextDraft, emptyTextDraft, textSegment } from "../draft.ts";
import { beginningOf } from "../policy.ts";
import { DEFAULT_TURN_TOKENS } from "../token-dialogue.ts";
import type { EndpointSettings } from "../model-settings.ts";

/** A server's reply for one message. */
export interface RemoteReply {
  text: string;
  reasoning?: string;
  finishReason: string | null;
  usage: TokenUsage | null;
  firstTokenMs: number | null;
}

/** State of a dialogue with a server. */
export interface RemotePlace {
  /** Index of its last call; null before the first. */
  last: number | null;
  messages: number;
  /** Tokens of the whole conversation by the server's last count; 0 if it does not count. */
  tokens: number;
}

/** Sampling settings of the next message. */
export function drawRequest(
  { budgets, ending, sampling, seed }: DialogueSetting,
  settings: Pick<EndpointSettings, "extra" | "maxTokens">,
  { messages }: RemotePlace,
): DrawRequest {
  const { temperature, topP, topK, minP = 0 } = sampling;
  const stops = sentStops(ending);
  return {
    temperature,
    topP,
    seed: seedFrom(seed, messages),
    maxTokens: replyLimit(budgets, settings),
    stop: stops.length === 0 ? undefined : stops,
    // `top_k` and `min_p` are extensions of vLLM, SGLang and llama.cpp; OpenAI has none.
    extra: {
      top_k: topK > 0 ? topK : undefined,
      min_p: minP > 0 ? minP : undefined,
      ...settings.extra,
    },
  };
}

/** Most tokens of a message. */
export function replyLimit(
  budgets: readonly BudgetNow[],
  { maxTokens }: Pick<EndpointSettings, "maxTokens">,
): number {
  return maxTokens ?? budgetOf(budgets, "turn")?.limit ?? DEFAULT_TURN_TOKENS;
}

/** Whether the conversation has used up its budget; the server reports its own limit itself. */
export function contextFull({ budgets }: DialogueSetting, { tokens }: RemotePlace): boolean {
  return tokens >= (budgetOf(budgets, "context")?.limit ?? Infinity);
}

/** Sends a request to a server; null when its context is full. @throws {RolloutError} with the code of the failed request. */
export async function askServer<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof ExternalError)) throw error;
    if (error.code === "HTTP_CONTEXT_LENGTH") return null;
    throw new RolloutError(error.code, error.message, { cause: error });
  }
}

/** Records a server's message, with tool calls written into it, cut as its protocol says. @throws COMPLETION_FILTERED, COMPLETION_EMPTY */
export function recordReply(
  setting: DialogueSetting,
  place: RemotePlace,
  reply: RemoteReply,
  inputs: readonly Input[],
): Message {
  const draft = emptyTextDraft(setting.ending);
  const finish = takeReply(setting, draft, reply);
  return recordMessage(setting, place, { draft, finish, replies: [reply], inputs });
}

/** Adds a server's text up to the protocol's end, with an omitted stop string. @throws COMPLETION_FILTERED, COMPLETION_EMPTY */
export function takeReply(
  setting: DialogueSetting,
  draft: TextDraft,
  reply: RemoteReply,
): CallFinish {
  const { finishReason, firstTokenMs } = reply;
  if (finishReason === "content_filter") {
    const problem = "the server's content filter blocked the message.";
    throw new RolloutError("COMPLETION_FILTERED", problem);
  }
  // With a finish reason, the model itself wrote nothing: its mistake, which counts.
  if (finishReason === null && (draft.text() + reply.text).trim() === "") {
    const problem =
      "the server sent a message without text and without a finish reason. Check the server's log.";
    throw new RolloutError("COMPLETION_EMPTY", problem);
  }
  if (firstTokenMs !== null) setting.onFirstToken?.(firstTokenMs);
  const stop =
    finishReason === "length"
      ? ""
      : closingStop(draft.whole() + reply.text, setting.protocol, setting.ending);
  const kept = draft.write(reply.text + stop);
  const stopped = kept.length < reply.text.length || stop !== "";
  return stopped ? "stop" : finishReason === "length" ? "length" : "eos";
}

interface RemoteMessage {
  draft: TextDraft;
  finish: CallFinish;
  replies: readonly RemoteReply[];
  /** What it was shown; without the beginning of its message. */
  inputs: readonly Input[];
}

/** Records a message as a call; removed tokens are counted, too. */
export function recordMessage(
  { calls }: DialogueSetting,
  place: RemotePlace,
  { draft, finish, replies, inputs }: RemoteMessage,
): Message {
  const last = replies.at(-1);
  const usages = replies.map(({ usage }) => usage);
  const reasoning = replies.findLast((each) => each.reasoning !== undefined)?.reasoning;
  const usage = sumOf(usages);
  calls.push({
    parent: place.last,
    role: "policy",
    policyVersion: null,
    prompt: inputs.flatMap(shownSegments),
    completion: draft.segments(),
    finish,
    usage: usage ?? undefined,
    reasoning,
  } satisfies Call);
  place.last = calls.length - 1;
  place.messages += 1;
  place.tokens = last?.usage == null ? 0 : last.usage.promptTokens + last.usage.completionTokens;
  return { text: draft.text(), call: place.last, put: draft.put() };
}

/** Records a message that is given instead of asked for. @returns index of its call. */
export function recordGiven(
  { calls }: DialogueSetting,
  place: Pick<RemotePlace, "last">,
  inputs: readonly Input[],
  { text, owner }: PrefixMessage,
): number {
  calls.push({
    parent: place.last,
    role: "policy",
    policyVersion: null,
    finish: "stop",
    prompt: inputs.flatMap(shownSegments),
    completion: [textSegment(owner, text)],
  } satisfies Call);
  place.last = calls.length - 1;
  return place.last;
}

function sumOf(usages: readonly (TokenUsage | null)[]): TokenUsage | null {
  const sum = { promptTokens: 0, completionTokens: 0 };
  for (const usage of usages) {
    if (usage === null) return null;
    sum.promptTokens += usage.promptTokens;
    sum.completionTokens += usage.completionTokens;
  }
  return sum;
}

/** The input, cut to its limit. */
export function shownText({
  text,
  maxTokens = Infinity,
  withheld = [],
}: Pick<Input, "text" | "maxTokens" | "withheld">): string {
  return beginningOf(text, maxTokens) + withheld.join("");
}

/** The segments of an input, as recorded. */
export function shownSegments({ withheld = [], ...input }: Input): Segment[] {
  const hints = withheld.map((each) => textSegment("inserted", each));
  return [textSegment(input.owner, shownText(input)), ...hints];
}

/** The stop string that completes a message, if any: servers omit it. */
export function closingStop(
  text: string,
  protocol: Protocol,
  ending: MessageEnding = protocol,
): string {
  if (ending.findCut(text) !== null || protocol.parse(text).actions.length > 0) return "";
  const isCompletedBy = (stop: string) => protocol.parse(text + stop).actions.length > 0;
  return ending.stopStrings.find(isCompletedBy) ?? "";
}

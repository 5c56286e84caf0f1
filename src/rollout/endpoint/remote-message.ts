import { ExternalError, RolloutError } from "../../base/errors.ts";
import { type BudgetNow, budgetOf } from "../../env/budget.ts";
import type { Protocol } from "../../env/protocols/protocol.ts";
import { seedFrom } from "../../base/random.ts";
import type { DrawRequest, TokenUsage } from "../../http/chat-messages.ts";
import type { PrefixMessage } from "../../trajectory/task.ts";
import type { Call, CallFinish, Segment } from "../../trajectory/trajectory.ts";
import type { DialogueSetting, Message, MessageEnding, Said } from "../dialogue.ts";
import { beginningOf } from "../policy.ts";
import { emptyTextDraft, type TextDraft, textSegment } from "../text-draft.ts";
import type { EndpointSettings } from "./endpoint-settings.ts";
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
    maxTokens: turnLimit(budgets),
    ...(stopStrings.length === 0 ? {} : { stop: stopStrings }),
    // Servers that have it know it by this name; it is none of OpenAI's.
    extra: { ...(topK > 0 ? { top_k: topK } : {}), ...extra },
  };
}

/** Tokens of a message at most. */
export function turnLimit(budgets: readonly BudgetNow[]): number {
  return budgetOf(budgets, "turn")?.limit ?? DEFAULT_TURN_TOKENS;
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
 * @param reply.text with calls of tools written into it.
 * @throws {RolloutError} COMPLETION_FILTERED, COMPLETION_EMPTY: nothing that could be judged.
 */
export function recordReply(
  setting: DialogueSetting,
  place: RemotePlace,
  reply: RemoteReply,
  said: readonly Said[],
): Message {
  const draft = emptyTextDraft(setting.ending);
  const finish = takeReply(setting, draft, reply);
  return recordMessage(setting, place, { draft, finish, replies: [reply], said });
}

/**
 * Adds what a server wrote to a message, up to where its protocol ends it.
 *
 * Servers leave out the text that stopped them; where the message is complete only with one, it is put back.
 *
 * @returns how it ended.
 * @throws {RolloutError} COMPLETION_FILTERED, COMPLETION_EMPTY: nothing that could be judged.
 */
export function takeReply(
  setting: DialogueSetting,
  draft: TextDraft,
  reply: RemoteReply,
): CallFinish {
  const { finishReason, firstTokenMs } = reply;
  if (finishReason === "content_filter") {
    throw new RolloutError("COMPLETION_FILTERED", "the server's own filter withheld the message.");
  }
  const isEmpty = (draft.text() + reply.text).trim() === "";
  if (isEmpty && finishReason !== "length" && !endedAtOnce(reply)) {
    throw new RolloutError(
      "COMPLETION_EMPTY",
      `the server gave a message without text (finish_reason ${JSON.stringify(finishReason)}).`,
    );
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

/** A message as a server gave it, in one reply or, where it was interrupted, in several. */
interface RemoteMessage {
  draft: TextDraft;
  finish: CallFinish;
  replies: readonly RemoteReply[];
  /** What it was shown; without the beginning of its message. */
  said: readonly Said[];
}

/** Records a message as a call; what was written and then taken back is counted. */
export function recordMessage(
  { calls }: DialogueSetting,
  place: RemotePlace,
  { draft, finish, replies, said }: RemoteMessage,
): Message {
  const last = replies.at(-1);
  const usages = replies.map(({ usage }) => usage);
  const reasoning = replies.findLast((each) => each.reasoning !== undefined)?.reasoning;
  const usage = sumOf(usages);
  calls.push({
    ...{ parent: place.last, role: "policy", policyVersion: null },
    ...{ prompt: said.flatMap(shownSegments), completion: draft.segments(), finish },
    ...(usage === null ? {} : { usage }),
    ...(reasoning === undefined ? {} : { reasoning }),
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
  said: readonly Said[],
  { text, owner }: PrefixMessage,
): number {
  calls.push({
    ...{ parent: place.last, role: "policy", policyVersion: null, finish: "stop" },
    ...{ prompt: said.flatMap(shownSegments), completion: [textSegment(owner, text)] },
  } satisfies Call);
  place.last = calls.length - 1;
  return place.last;
}

/** Null where one of them is not known. */
function sumOf(usages: readonly (TokenUsage | null)[]): TokenUsage | null {
  const sum = { promptTokens: 0, completionTokens: 0 };
  for (const usage of usages) {
    if (usage === null) return null;
    sum.promptTokens += usage.promptTokens;
    sum.completionTokens += usage.completionTokens;
  }
  return sum;
}

/** Whether the model itself wrote nothing but its end. A server that counts more has kept text to itself; one that counts none may have. */
function endedAtOnce({ usage, reasoning }: RemoteReply): boolean {
  return usage !== null && usage.completionTokens === 1 && reasoning === undefined;
}

/** What was said, as much of it as may be shown. */
export function shownText({
  text,
  maxTokens = Infinity,
  withheld = [],
}: Pick<Said, "text" | "maxTokens" | "withheld">): string {
  return beginningOf(text, maxTokens) + withheld.join("");
}

/** What was said as it is recorded. */
export function shownSegments({ withheld = [], ...said }: Said): Segment[] {
  const hints = withheld.map((each) => textSegment("inserted", each));
  return [textSegment(said.owner, shownText(said)), ...hints];
}

/** The stop string that completes a message, where one does: servers leave it out. */
export function closingStop(
  text: string,
  protocol: Protocol,
  ending: MessageEnding = protocol,
): string {
  if (ending.findCut(text) !== null || protocol.parse(text).actions.length > 0) return "";
  const isCompletedBy = (stop: string) => protocol.parse(text + stop).actions.length > 0;
  return ending.stopStrings.find(isCompletedBy) ?? "";
}

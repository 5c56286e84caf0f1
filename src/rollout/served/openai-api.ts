import { AgentrlError } from "../../base/errors.ts";
import type { Tokenizer } from "../../text/tokenizer.ts";
import type { TokenPolicy } from "../policy.ts";
import type { Answer, Conversation, Draw } from "./conversation.ts";
import { messageKeys } from "./message-keys.ts";
import { type Asked, type DrawLimits, readChat, readCompletion } from "./openai-requests.ts";
import { ServedError, errorBody } from "./served-error.ts";

/** A policy behind OpenAI's API, without a transport. */
export interface OpenAiApi {
  policy: TokenPolicy;
  model: string;
  adapters?: readonly string[];
  limits: DrawLimits;
  conversationOf(request: RequestOrigin): Conversation;
  /** Replaces what a request asks of the drawing. */
  drawAs?(draw: Draw): Draw;
}

/** What tells the conversation of a request. */
export interface RequestOrigin {
  /** Its field `user`. */
  user: string | null;
  /** How much of the request is a conversation's: messages, characters or token ids; 0: nothing. */
  shared(conversation: Conversation): number;
}

/** A reply for a transport to send. */
export type ApiReply = { conversation: string | null } & (
  { status: number; json: object } | { status: 200; events: string }
);

/** Answers a request of OpenAI's API: `/v1/models`, `/v1/chat/completions` or `/v1/completions`. @throws what the engine throws. */
export async function answerOpenAi(
  api: OpenAiApi,
  method: string,
  path: string,
  body: unknown,
): Promise<ApiReply> {
  try {
    if (method === "GET" && path === "/v1/models") return models(api);
    if (method === "POST" && path === "/v1/chat/completions") return await chat(api, body);
    if (method === "POST" && path === "/v1/completions") return await complete(api, body);
    throw new ServedError(404, `${method} ${path} is not served here.`);
  } catch (error) {
    const refused = error instanceof ServedError ? error : refusalOf(error);
    if (refused === null) throw error;
    return { status: refused.status, json: errorBody(refused), conversation: null };
  }
}

function refusalOf(error: unknown): ServedError | null {
  if (!(error instanceof AgentrlError)) return null;
  const { code, message } = error;
  if (code === "PROMPT_TOO_LONG")
    return new ServedError(400, message, { code: "context_length_exceeded", param: "messages" });
  if (code === "CHAT_TEMPLATE_REFUSED" || code === "CHAT_TEMPLATE_BAD")
    return new ServedError(400, message, { code: "invalid_value", param: "messages" });
  return null;
}

function models({ model, adapters = [] }: OpenAiApi): ApiReply {
  const facts = { object: "model", created: 0, owned_by: "agentrl" };
  const data = [
    { id: model, ...facts },
    ...adapters.map((id) => ({ id, ...facts, parent: model })),
  ];
  return { status: 200, json: { object: "list", data }, conversation: null };
}

async function chat(api: OpenAiApi, body: unknown): Promise<ApiReply> {
  const { messages, tools, draw, streams, user, ...asked } = readChat(body, api.limits);
  const keys = messageKeys(messages, tools);
  const conversation = api.conversationOf({ user, shared: (each) => each.sharedMessages(keys) });
  const answer = await conversation.chat(messages, tools, api.drawAs?.(draw) ?? draw);
  const facts = { ...asked, ...factsOf(api, conversation) };
  const { tokenizer } = api.policy;
  if (streams) return eventReply(conversation, chatEvents(answer, facts, tokenizer));
  return jsonReply(conversation, chatReply(answer, facts, tokenizer));
}

async function complete(api: OpenAiApi, body: unknown): Promise<ApiReply> {
  const { prompt, draw, streams, user, ...asked } = readCompletion(body, api.limits);
  const conversation = api.conversationOf({ user, shared: (each) => each.sharedPrompt(prompt) });
  const answer: Answer = await conversation.complete(prompt, api.drawAs?.(draw) ?? draw);
  const facts = { ...asked, ...factsOf(api, conversation) };
  const reply = completionReply(answer, facts, api.policy.tokenizer);
  return streams ? eventReply(conversation, [reply]) : jsonReply(conversation, reply);
}

function factsOf({ model }: OpenAiApi, { id }: Conversation) {
  return { model, conversation: id, created: Math.floor(Date.now() / 1000) };
}

function jsonReply({ id }: Conversation, json: object): ApiReply {
  return { status: 200, json, conversation: id };
}

function eventReply({ id }: Conversation, events: readonly object[]): ApiReply {
  const lines = [...events.map((event) => JSON.stringify(event)), "[DONE]"];
  return { status: 200, events: lines.map((line) => `data: ${line}\n\n`).join(""), conversation: id }; // prettier-ignore
}

interface ReplyFacts extends Pick<Asked, "logprobs" | "tokenIds"> {
  conversation: string;
  model: string;
  created: number;
}

function chatReply(answer: Answer, facts: ReplyFacts, tokenizer: Tokenizer): object {
  const { text, calls } = answer;
  const called = calls.length > 0;
  return {
    ...headOf(answer, facts, "chat.completion"),
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content: called && text === "" ? null : text,
          tool_calls: called ? calls : undefined,
        },
        finish_reason: finishOf(answer),
        logprobs: facts.logprobs ? chatLogprobs(answer, tokenizer) : null,
        ...idsOf(answer, facts),
      },
    ],
    usage: usageOf(answer),
  };
}

/** The same reply as events: the whole message in one delta, then its end. */
function chatEvents(
  answer: Answer,
  { streamsUsage, ...facts }: ReplyFacts & Pick<Asked, "streamsUsage">,
  tokenizer: Tokenizer,
): object[] {
  const head = headOf(answer, facts, "chat.completion.chunk");
  const { text, calls } = answer;
  const called = calls.map((call, index) => ({ index, ...call }));
  const delta = {
    role: "assistant",
    content: called.length > 0 && text === "" ? null : text,
    tool_calls: called.length > 0 ? called : undefined,
  };
  const logprobs = facts.logprobs ? chatLogprobs(answer, tokenizer) : null;
  const first = { index: 0, delta, finish_reason: null, logprobs, ...idsOf(answer, facts) };
  const last = { index: 0, delta: {}, finish_reason: finishOf(answer), logprobs: null };
  return [
    { ...head, choices: [first] },
    { ...head, choices: [last] },
    ...(streamsUsage ? [{ ...head, choices: [], usage: usageOf(answer) }] : []),
  ];
}

function completionReply(answer: Answer, facts: ReplyFacts, tokenizer: Tokenizer): object {
  const { text, ids, logprobs } = answer;
  const tokens = ids.map((id) => tokenizer.decode([id]));
  let offset = 0;
  const offsets = tokens.map((token) => {
    offset += token.length;
    return offset - token.length;
  });
  const scores = { tokens, token_logprobs: logprobs, top_logprobs: null, text_offset: offsets };
  return {
    ...headOf(answer, facts, "text_completion"),
    choices: [
      {
        index: 0,
        text,
        finish_reason: finishOf(answer),
        logprobs: facts.logprobs ? scores : null,
        ...idsOf(answer, facts),
      },
    ],
    usage: usageOf(answer),
  };
}

function headOf({ call }: Answer, { conversation, model, created }: ReplyFacts, object: string) {
  return { id: `${conversation}-${call}`, object, created, model, conversation };
}

function finishOf({ calls, finish }: Answer): string {
  if (calls.length > 0) return "tool_calls";
  return finish === "length" || finish === "context" ? "length" : "stop";
}

function usageOf({ promptIds, ids }: Answer): object {
  const [prompt, completion] = [promptIds.length, ids.length];
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
  };
}

/** vLLM's fields for token ids. */
function idsOf({ promptIds, ids }: Answer, { tokenIds }: ReplyFacts): object {
  return tokenIds ? { prompt_token_ids: promptIds, token_ids: ids } : {};
}

function chatLogprobs({ ids, logprobs }: Answer, tokenizer: Tokenizer): object {
  const content = ids.map((id, i) => ({
    token: tokenizer.decode([id]),
    logprob: logprobs[i],
    bytes: [...tokenizer.bytes(id)],
    top_logprobs: [],
  }));
  return { content, refusal: null };
}

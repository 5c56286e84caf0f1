import type { Tokenizer } from "../../text/tokenizer.ts";
import type { Answer } from "./conversation.ts";
import type { Asked } from "./openai-requests.ts";

/** What a reply tells beside the answer. */
export interface ReplyFacts extends Pick<Asked, "logprobs" | "tokenIds"> {
  conversation: string;
  model: string;
  /** Seconds since 1970. */
  created: number;
}

/** OpenAI's reply to a request for a chat message. */
export function chatReply(answer: Answer, facts: ReplyFacts, tokenizer: Tokenizer): object {
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
export function chatEvents(
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

/** OpenAI's reply to a request for a plain completion; as an event it is the same. */
export function completionReply(answer: Answer, facts: ReplyFacts, tokenizer: Tokenizer): object {
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

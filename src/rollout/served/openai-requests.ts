import { shortList, z } from "../../base/schema.ts";
import type { Draw } from "./conversation.ts";
import type { WireMessage } from "./message-keys.ts";
import { checkedBody, ServedError } from "./served-error.ts";

const MOST_MESSAGES = 4096;
const MOST_TOOLS = 1024;
const MOST_PARTS = 256;

const textPart = z.looseObject({ type: z.literal("text"), text: z.string() });

const wireCall = z.looseObject({
  id: z.string(),
  type: z.literal("function").default("function"),
  function: z.looseObject({ name: z.string(), arguments: z.string() }),
});

const message = z.looseObject({
  role: z.enum(["system", "developer", "user", "assistant", "tool"]),
  content: z.union([z.string(), shortList(z.array(textPart), MOST_PARTS)]).nullish(),
  tool_calls: shortList(z.array(wireCall), MOST_PARTS).nullish(),
  tool_call_id: z.string().nullish(),
});

const stops = shortList(z.array(z.string().min(1)), 16);

const drawn = {
  model: z.string().nullish(),
  max_tokens: z.int().min(1).nullish(),
  temperature: z.number().min(0).max(2).nullish(),
  top_p: z.number().gt(0).max(1).nullish(),
  top_k: z.int().min(-1).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  stop: z.union([z.string().min(1), stops]).nullish(),
  include_stop_str_in_output: z.boolean().nullish(),
  seed: z.int().nullish(),
  stream: z.boolean().nullish(),
  stream_options: z.looseObject({ include_usage: z.boolean().nullish() }).nullish(),
  user: z.string().max(255).nullish(),
  return_token_ids: z.boolean().nullish(),
};

const chatRequest = z.looseObject({
  ...drawn,
  messages: shortList(z.array(message).min(1), MOST_MESSAGES),
  max_completion_tokens: z.int().min(1).nullish(),
  tools: shortList(
    z.array(
      z.looseObject({
        type: z.literal("function"),
        function: z.looseObject({ name: z.string().min(1) }),
      }),
    ),
    MOST_TOOLS,
  ).nullish(),
  tool_choice: z.enum(["none", "auto"], 'expected "none" or "auto"').nullish(),
  logprobs: z.boolean().nullish(),
});

type Prompt = string | number[];

/** A text, or token ids; in one pass, because there may be a million of them. */
function isPrompt(value: unknown): value is Prompt {
  if (typeof value === "string") return true;
  const isId = (id: unknown): boolean => Number.isSafeInteger(id) && (id as number) >= 0;
  return Array.isArray(value) && value.length > 0 && value.every(isId);
}

const completionRequest = z.looseObject({
  ...drawn,
  prompt: z.custom<Prompt | [Prompt]>(
    (value) =>
      isPrompt(value) || (Array.isArray(value) && value.length === 1 && isPrompt(value[0])),
    "expected one text, or the token ids of one text",
  ),
  logprobs: z.int().min(0).max(1).nullish(),
});

/** Fields that would change the answer and are not supported, with the values that change nothing. */
const NEUTRAL: Readonly<Record<string, readonly unknown[]>> = {
  n: [1],
  best_of: [1],
  echo: [false],
  suffix: [""],
  presence_penalty: [0],
  frequency_penalty: [0],
  repetition_penalty: [1],
  top_logprobs: [0],
};

/** What both kinds of requests say. */
export interface Asked {
  draw: Draw;
  streams: boolean;
  streamsUsage: boolean;
  user: string | null;
  logprobs: boolean;
  tokenIds: boolean;
}

/** Defaults and limits of a served policy. */
export interface DrawLimits {
  /** Limit of an answer where the request names none. */
  defaultTokens: number;
  vocabSize: number;
}

/** @throws {ServedError} 400 */
export function readChat(
  body: unknown,
  limits: DrawLimits,
): Asked & { messages: WireMessage[]; tools: readonly unknown[] } {
  const request = checkedBody(chatRequest, body);
  refuseOthers(request, ["logit_bias", "response_format", "functions", "audio"]);
  const { messages, tools, tool_choice: choice } = request;
  const most = request.max_completion_tokens ?? request.max_tokens;
  return {
    ...askedOf({ ...request, max_tokens: most }, limits),
    messages: messages.map(wireMessage),
    tools: choice === "none" ? [] : (tools ?? []),
    logprobs: request.logprobs === true,
  };
}

/** @throws {ServedError} 400 */
export function readCompletion(
  body: unknown,
  limits: DrawLimits,
): Asked & { prompt: string | readonly number[] } {
  const request = checkedBody(completionRequest, body);
  refuseOthers(request, ["logit_bias", "response_format"]);
  const { prompt: given } = request;
  const [first] = given;
  const prompt = isPrompt(given) ? given : (first as Prompt);
  if (typeof prompt !== "string" && prompt.some((id) => id >= limits.vocabSize))
    throw new ServedError(400, `prompt: the model has token ids up to ${limits.vocabSize - 1}.`, {
      param: "prompt",
    });
  const asked = askedOf(request, limits);
  return { ...asked, prompt, logprobs: typeof request.logprobs === "number" };
}

type Drawn = z.output<z.ZodObject<typeof drawn>>;

function askedOf(request: Drawn, { defaultTokens }: DrawLimits): Omit<Asked, "logprobs"> {
  const { stop, seed, top_k: topK } = request;
  return {
    draw: {
      sampling: {
        temperature: request.temperature ?? 1,
        topP: request.top_p ?? 1,
        topK: Math.max(0, topK ?? 0),
        minP: request.min_p ?? undefined,
      },
      maxTokens: request.max_tokens ?? defaultTokens,
      stop: typeof stop === "string" ? [stop] : (stop ?? []),
      keepStop: request.include_stop_str_in_output === true,
      seed: seed ?? null,
    },
    streams: request.stream === true,
    streamsUsage: request.stream_options?.include_usage === true,
    user: request.user ?? null,
    tokenIds: request.return_token_ids === true,
  };
}

/** @throws {ServedError} 400 for what would silently be ignored. */
function refuseOthers(request: Readonly<Record<string, unknown>>, others: readonly string[]): void {
  for (const [key, neutral] of Object.entries(NEUTRAL)) refuseUnless(request, key, neutral);
  for (const key of others) {
    const isText = (request[key] as { type?: unknown } | null | undefined)?.type === "text";
    if (!isText) refuseUnless(request, key, []);
  }
}

function refuseUnless(
  request: Readonly<Record<string, unknown>>,
  key: string,
  neutral: readonly unknown[],
): void {
  const value = request[key] ?? null;
  if (value === null || neutral.includes(value)) return;
  const allowed = neutral.length === 0 ? "Leave it out" : `Set it to ${JSON.stringify(neutral[0])}`;
  const message = `${key} is not supported here. ${allowed}.`;
  throw new ServedError(400, message, { code: "unsupported_value", param: key });
}

function wireMessage({
  content,
  tool_calls: calls,
  ...rest
}: z.output<typeof message>): WireMessage {
  const text = typeof content === "string" ? content : (content ?? []).map((part) => part.text).join(""); // prettier-ignore
  const role = rest.role === "developer" ? "system" : rest.role;
  return { ...rest, role, content: text, tool_calls: calls ?? undefined };
}

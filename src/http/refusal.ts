/** A refusal that arrived instead of a reply, or in the middle of one. */
export interface Refusal {
  /** The HTTP status that it corresponds to. */
  status: number;
  body: string;
}

/**
 * The refusal in a piece of JSON from a server or gateway; null when there is none. Forms: `{"error": …}` with an object or a text,
 * `{"object": "error", "message"}` (older vLLM, FastChat), an error in a choice or as its finish reason (OpenRouter, vLLM, SGLang), and,
 * only in JSON that is no reply: `detail` (FastAPI), `message`, `msg`, `errors`, `error_message`.
 *
 * @param event the event's name; some servers use the name "error".
 * @param isReply whether the JSON has the shape of a reply.
 */
export function refusalOf(
  value: unknown,
  { event = "", isReply = false }: { event?: string; isReply?: boolean } = {},
): Refusal | null {
  if (typeof value !== "object" || value === null) return null;
  const { error, object, choices } = value as Record<string, unknown>;
  if (saysSomething(error)) return { status: statusOf(error, value), body: JSON.stringify(error) };
  const failed = Array.isArray(choices) ? choices.find(isFailedChoice) : undefined;
  if (failed !== undefined) {
    const said = failed.error ?? failed;
    return { status: statusOf(said), body: JSON.stringify(said) };
  }
  const isError =
    event === "error" || object === "error" || (!isReply && messageIn(value) !== null);
  return isError ? { status: statusOf(value), body: JSON.stringify(value) } : null;
}

/** Some servers send an empty error with every reply. */
function saysSomething(error: unknown): boolean {
  if (typeof error === "object" && error !== null) return Object.keys(error).length > 0;
  return error !== undefined && error !== null && error !== "" && error !== false;
}

interface FailedChoice {
  error?: unknown;
}

/** A server that stops in the middle still has a choice, with a part of its text. */
function isFailedChoice(choice: unknown): choice is FailedChoice {
  if (typeof choice !== "object" || choice === null) return false;
  const { error, finish_reason: finish } = choice as { error?: unknown; finish_reason?: unknown };
  return saysSomething(error) || finish === "error" || finish === "abort";
}

const STATUS_KEYS = ["code", "status", "status_code", "statusCode"];

/** The refusal's own number, or a status derived from its words; the default is a server failure. */
function statusOf(...said: unknown[]): number {
  const objects = said.filter((each) => typeof each === "object" && each !== null);
  const values = objects.flatMap((each) =>
    STATUS_KEYS.map((key) => (each as Record<string, unknown>)[key]),
  );
  const number = values.map(Number).find((each) => each >= 400 && each <= 599);
  if (number !== undefined) return number;
  const kinds = objects.map((each) => (each as { type?: unknown }).type);
  const texts = said.map((each) => messageIn(each) ?? "");
  const named = [...values, ...kinds].map(String).join(" ");
  const words = [named, ...texts].join(" ");
  if (/rate.?limit|too.?many.?requests|quota/i.test(words)) return 429;
  if (/overload|unavailable/i.test(words)) return 503;
  if (/authenti|api.?key/i.test(words)) return 401;
  if (/invalid|bad.?request|exceed|not.?found/i.test(named)) return 400;
  return isContextLimit({ body: words }) || /not found|does not exist/i.test(words) ? 400 : 500;
}

const MESSAGE_KEYS = ["message", "detail", "error_message", "msg", "errors", "error"];

/**
 * The message in an error's JSON; null when there is none.
 * @example messageIn({ detail: [{ loc: ["body", "k"], msg: "field required" }] }) // "body.k: field required"
 */
export function messageIn(error: unknown): string | null {
  if (typeof error === "string") return error === "" ? null : error;
  if (Array.isArray(error)) {
    const all = error.map(messageIn).filter((each) => each !== null);
    return all.length === 0 ? null : all.join("; ");
  }
  if (typeof error !== "object" || error === null) return null;
  const fields = error as Record<string, unknown>;
  for (const key of MESSAGE_KEYS) {
    const said = messageIn(fields[key]);
    if (said === null) continue;
    const { loc } = fields;
    return Array.isArray(loc) ? `${loc.join(".")}: ${said}` : said;
  }
  return null;
}

/**
 * Lower-case messages for "prompt and completion limit exceed the context":
 * OpenAI, Azure, vLLM, DeepSeek, LiteLLM ("maximum context length is …", `context_length_exceeded`,
 * "exceeds the context window"); vLLM's engine ("longer than the maximum model length"); SGLang ("longer than the model's
 * context length", "exceeds the model's maximum context length"); llama.cpp ("exceeds the available context size",
 * `exceed_context_size_error`, "context size has been exceeded"); TGI ("`inputs` tokens + `max_new_tokens` must be <="),
 * LM Studio ("context the overflows", "greater than the context length"), Groq ("reduce the length of the messages"),
 * Anthropic ("prompt is too long", "exceed context limit"), Bedrock ("input is too long for requested model"), Gemini ("input
 * token count … exceeds the maximum"), xAI ("maximum prompt length is"), Mistral ("too large for model with … maximum context").
 */
const CONTEXT_LIMITS = [
  /maximum (context|prompt|model) length/,
  /context[ _](length|size|window)[ _](has been )?exceeded/,
  /exceeds? (the |this |its )?(model's |available |maximum |input )*context/,
  /exceed_context_size/,
  /longer than the (model's context|maximum model|model's max)/,
  /(greater|larger) than the (model's )?(max(imum)? )?context/,
  /context the overflows/,
  /reduce the length of the (messages|prompt|input)/,
  /(prompt|input|request) is too long/,
  /(input|prompt) token count.*exceeds the max/,
  /`inputs`.*must (be|have less)/,
  /too large for model with .*maximum context/,
];

/** Whether a refusal says that the context length is exceeded. */
export function isContextLimit({ body }: { body: string }): boolean {
  const words = body.toLowerCase();
  return CONTEXT_LIMITS.some((limit) => limit.test(words));
}

/** Whether a refusal says that the model does not exist; servers use 404 or 400. */
export function isUnknownModel({ status, body }: Refusal): boolean {
  if (status !== 404 && status !== 400) return false;
  return /model[^.]{0,120}(not found|not exist|not a valid|unknown|invalid|not supported|no such)|(no such|unknown|invalid|unsupported|not a valid) model|model_not_found/i.test(
    body,
  );
}

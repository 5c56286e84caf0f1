/** A refusal that arrived instead of a reply, or in the middle of one. */
export interface Refusal {
  /** The HTTP status that it corresponds to. */
  status: number;
  body: string;
}

/**
 * The refusal in a piece of JSON from an OpenAI-compatible server or gateway: an object with `error`. Null when there is
 * none.
 *
 * @param event the event's name; some servers use the name "error".
 */
export function refusalOf(value: unknown, event = ""): Refusal | null {
  if (typeof value !== "object" || value === null) return null;
  const { error = event === "error" ? value : undefined } = value as { error?: unknown };
  if (error === undefined || error === null || error === "") return null;
  return { status: statusOf(error), body: JSON.stringify(error) };
}

/** The refusal's own number, or a status derived from its words; the default is a server failure. */
function statusOf(error: unknown): number {
  if (typeof error !== "object" || error === null) return 500;
  const { code, status, type } = error as { code?: unknown; status?: unknown; type?: unknown };
  const number = [code, status].map(Number).find((each) => each >= 400 && each <= 599);
  if (number !== undefined) return number;
  const words = `${String(code)} ${String(type)}`;
  if (/rate.?limit|too.?many|quota/i.test(words)) return 429;
  if (/overload|unavailable/i.test(words)) return 503;
  if (/authenti|api.?key/i.test(words)) return 401;
  return /invalid|bad.?request|exceed|not.?found/i.test(words) ? 400 : 500;
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

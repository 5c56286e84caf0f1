import { describe, expect, it } from "vitest";
import { isContextLimit, isUnknownModel, refusalOf } from "../../src/http/refusal.ts";

describe("a refusal because the context is full", () => {
  it.each([
    [
      "OpenAI",
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.",
    ],
    ["OpenAI's code", '{"code":"context_length_exceeded"}'],
    [
      "OpenAI, newer",
      "Your input exceeds the context window of this model. Please adjust your input and try again.",
    ],
    [
      "vLLM",
      "This model's maximum context length is 6048 tokens. However, you requested 6616 tokens (568 in the messages, 6048 in the completion).",
    ],
    [
      "vLLM's engine",
      "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
    ],
    [
      "SGLang",
      "The input (61709 tokens) is longer than the model's context length (40960 tokens).",
    ],
    [
      "SGLang, with completion",
      "Requested token count exceeds the model's maximum context length of 32768 tokens.",
    ],
    [
      "llama.cpp",
      "request (904 tokens) exceeds the available context size (512 tokens), try increasing it",
    ],
    ["llama.cpp, while writing", "Context size has been exceeded."],
    [
      "TGI",
      "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5000 `inputs` tokens",
    ],
    ["Anthropic", "prompt is too long: 208310 tokens > 200000 maximum"],
    [
      "Anthropic, with completion",
      "input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000",
    ],
    ["Bedrock", "Input is too long for requested model."],
    [
      "Gemini",
      "The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
    ],
    ["Groq", "Please reduce the length of the messages or completion."],
    ["LM Studio", "Trying to keep the first 9000 tokens when context the overflows."],
    ["xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens."],
  ])("is recognised from %s", (_server, body) => {
    expect(isContextLimit({ body })).toBe(true);
  });

  it.each([
    "Rate limit reached for tokens per minute: limit 30000, used 29000.",
    "max_tokens must be at least 1",
    "The model `context-1` does not exist.",
    "Invalid value for 'temperature': must be at most 2.",
    "Request body exceeds 10 MB.",
  ])("is not seen in %s", (body) => {
    expect(isContextLimit({ body })).toBe(false);
  });
});

describe("a refusal because there is no such model", () => {
  it.each([
    [404, "The model `gpt-5x` does not exist or you do not have access to it."],
    [404, "model 'qwen' not found, try pulling it first"],
    [400, "qwen/none is not a valid model ID"],
    [400, "Invalid model name passed in model=x. Call `/v1/models` to view available models."],
    [404, '{"code":"model_not_found"}'],
  ])("is recognised: %i, %s", (status, body) => {
    expect(isUnknownModel({ status, body })).toBe(true);
  });

  it("is not seen in other refusals", () => {
    expect(isUnknownModel({ status: 400, body: "temperature must be at most 2" })).toBe(false);
    expect(isUnknownModel({ status: 500, body: "model not found" })).toBe(false);
  });
});

describe("an error object", () => {
  it.each([
    [{ code: 503 }, 503],
    [{ code: "429" }, 429],
    [{ status: 402, code: "payment" }, 402],
    [{ type: "rate_limit_error" }, 429],
    [{ type: "overloaded_error" }, 503],
    [{ type: "authentication_error" }, 401],
    [{ type: "invalid_request_error", code: null }, 400],
    [{ type: "server_error" }, 500],
    ["it broke", 500],
  ])("stands for a status: %j", (error, status) => {
    expect(refusalOf({ error })).toEqual({ status, body: JSON.stringify(error) });
  });

  it("is none where nothing is refused", () => {
    for (const value of [{ choices: [] }, { error: null }, { error: "" }, null, "error", 7]) {
      expect(refusalOf(value)).toBeNull();
    }
    expect(refusalOf({ message: "no" }, { isReply: true })).toBeNull();
    expect(refusalOf({ message: "no" }, { event: "error", isReply: true })).toEqual({
      status: 500,
      body: '{"message":"no"}',
    });
  });
});

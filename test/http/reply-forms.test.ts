import type { ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import { parseOptions, z } from "../../src/base/schema.ts";
import { chatClient } from "../../src/http/chat.ts";
import { chatShape, measuredModelShape } from "../../src/http/chat-settings.ts";
import { completionsClient } from "../../src/http/completions.ts";
import { embeddingsClient } from "../../src/http/embeddings.ts";
import type { ChatReply } from "../../src/http/chat-messages.ts";
import { errorWith } from "../helpers/error-with.ts";
import { localServer, sendJson } from "../helpers/local-server.ts";

let answer: (response: ServerResponse) => void;
const server = await localServer((_request, response) => {
  answer(response);
});
const settings = (more: object = {}) =>
  parseOptions(
    z.strictObject(measuredModelShape),
    {
      baseUrl: `${server.url}/v1`,
      model: "m",
      apiKeyEnv: null,
      retryDelayMs: 0,
      retries: 1,
      ...more,
    },
    "test",
  );
const chat = (more: object = {}): Promise<ChatReply> =>
  chatClient("policy", settings(more)).complete({ messages: [{ role: "user", content: "?" }] });
const streamed = (): Promise<ChatReply> => chat({ stream: true });

const choice = (message: unknown, more: object = {}) => ({
  choices: [{ index: 0, message, finish_reason: "stop", ...more }],
});
const events = (...pieces: unknown[]) => {
  answer = (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    const lines = pieces.map((each) => (typeof each === "string" ? each : JSON.stringify(each)));
    response.end(lines.map((line) => `data: ${line}\n\n`).join(""));
  };
};
const piece = (delta: unknown, finish: unknown = null) => ({
  choices: [{ index: 0, delta, finish_reason: finish }],
});

describe("a field that a reply does not need", () => {
  const message = { role: "assistant", content: "Oslo" };
  const calls = [{ id: 7, index: "0", function: { name: "search", arguments: { q: 1 } } }];
  it.each<[string, object, Partial<ChatReply>]>([
    ["usage {}", { ...choice(message), usage: {} }, { usage: null }],
    ["usage in part", { ...choice(message), usage: { total_tokens: 3 } }, { usage: null }],
    ["usage with null", { ...choice(message), usage: { prompt_tokens: 1, completion_tokens: null } }, { usage: null }], // prettier-ignore
    ["usage of texts", { ...choice(message), usage: { prompt_tokens: "1", completion_tokens: "2" } }, { usage: null }], // prettier-ignore
    ["usage below 0", { ...choice(message), usage: { prompt_tokens: -1, completion_tokens: 2 } }, { usage: null }], // prettier-ignore
    ["usage as a list", { ...choice(message), usage: [] }, { usage: null }],
    ["finish_reason 0", choice(message, { finish_reason: 0 }), { finishReason: null }],
    ["finish_reason {}", choice(message, { finish_reason: {} }), { finishReason: null }],
    ['finish_reason ""', choice(message, { finish_reason: "" }), { finishReason: null }],
    ["reasoning as an object", choice({ ...message, reasoning: { text: "x" } }), {}],
    ["reasoning_content as a number", choice({ ...message, reasoning_content: 4 }), {}],
    ["refusal as false", choice({ ...message, refusal: false }), {}],
    ["logprobs as a list", choice(message, { logprobs: [] }), {}],
    ["logprobs of null", choice(message, { logprobs: { content: [{ token: "a", logprob: null }] } }), {}], // prettier-ignore
    ["created, id and index of other types", { id: 4, created: "now", ...choice(message, { index: "a" }) }, {}], // prettier-ignore
    ["an empty error", { ...choice(message), error: {} }, {}],
    ["a call's id and index", choice({ content: "Oslo", tool_calls: calls }), { toolCalls: [{ id: "call_0", name: "search", arguments: '{"q":1}' }] }], // prettier-ignore
  ])("decides nothing: %s", async (_name, reply, found) => {
    answer = (response) => {
      sendJson(response, reply);
    };
    expect(await chat()).toMatchObject({ text: "Oslo", ...found });
  });

  it.each<[string, unknown, string]>([
    [
      "null in a part",
      [
        { type: "reasoning", text: null },
        { type: "text", text: "Oslo" },
      ],
      "Oslo",
    ],
    ["reasoning in a part", [{ type: "reasoning", text: "Bern?" }, { type: "text", text: "Oslo" }], "Oslo"], // prettier-ignore
    ["null and texts as parts", [null, "Os", { text: "lo" }], "Oslo"],
    ["a refusal as a part", [{ type: "refusal", refusal: "No." }], "No."],
  ])("decides nothing in the message's content: %s", async (_name, content, text) => {
    answer = (response) => {
      sendJson(response, choice({ content }));
    };
    expect(await chat()).toMatchObject({ text });
  });

  it.each([
    ["no choice", { choices: [] }],
    ["no message", { choices: [{ finish_reason: "stop" }] }],
    ["content that is a number", choice({ content: 4 })],
    [
      "a text part that is an object",
      choice({ content: [{ type: "text", text: { value: "A" } }] }),
    ],
    ["calls that are no list", choice({ content: null, tool_calls: "search" })],
  ])("is not the text: %s is HTTP_BAD_REPLY", async (_name, reply) => {
    answer = (response) => {
      sendJson(response, reply);
    };
    await expect(chat()).rejects.toThrow(errorWith("HTTP_BAD_REPLY", "$.choices"));
  });

  it("decides nothing in a stream, whose pieces may be whole messages", async () => {
    events({ ...piece({ content: "Os" }, ""), usage: {} }, piece({ content: "lo" }, "stop"));
    expect(await streamed()).toMatchObject({ text: "Oslo", usage: null });
    events({ choices: [{ message: { content: "Oslo" }, finish_reason: "stop" }] }, "[DONE]");
    expect(await streamed()).toMatchObject({ text: "Oslo", finishReason: "stop" });
  });
});

describe("a finish reason", () => {
  it.each(["", null, 0])("%j of a stream that ends means that it was cut", async (finish) => {
    events(piece({ content: "<answer>Os" }, finish), piece({ content: "lo" }, finish));
    await expect(streamed()).rejects.toThrow(errorWith("HTTP_CUT", /\(2 attempts/));
  });

  it("is length by any name, and a failure where the server says so", async () => {
    answer = (response) => {
      sendJson(response, choice({ content: "Os" }, { finish_reason: "MAX_TOKENS" }));
    };
    expect(await chat()).toMatchObject({ finishReason: "length" });
    answer = (response) => {
      sendJson(response, choice({ content: "Os" }, { finish_reason: "abort" }));
    };
    await expect(chat()).rejects.toThrow(errorWith("HTTP_STATUS", /abort.*\(2 attempts/));
  });
});

describe("what the model itself does", () => {
  it("is its message: a refusal, a call without a name, the call of older models", async () => {
    answer = (response) => {
      sendJson(response, choice({ content: null, refusal: "I can't help." }));
    };
    expect(await chat()).toMatchObject({ text: "I can't help.", finishReason: "stop" });
    events(piece({ refusal: "I " }), piece({ refusal: "can't." }, "stop"), "[DONE]");
    expect(await streamed()).toMatchObject({ text: "I can't." });
    for (const tool_calls of [[{ function: { name: null, arguments: "{}" } }], [null], [{}]]) {
      answer = (response) => {
        sendJson(response, choice({ content: null, tool_calls }));
      };
      expect(await chat()).toMatchObject({ toolCalls: [{ id: "call_0", name: "" }] });
    }
    answer = (response) => {
      sendJson(response, choice({ function_call: { name: "search", arguments: "{}" } }));
    };
    expect(await chat()).toMatchObject({ toolCalls: [{ name: "search", arguments: "{}" }] });
  });
});

const ERRORS: [string, unknown, RegExp, attempts: 1 | 2][] = [
  ["error as an object", { error: { message: "boom", code: 502 } }, /status 502, .*boom/, 2],
  ["error as a text", { error: "boom" }, /status 500, .*boom/, 2],
  ["error of a busy server", { error: "Too many requests" }, /status 429, .*Too many/, 2],
  ["error beside choices", { choices: [], error: { message: "boom" } }, /boom/, 2],
  ["error in a choice", { choices: [{ error: { message: "boom", code: 503 } }] }, /503, .*boom/, 2],
  ["object: error", { object: "error", message: "CUDA out of memory", code: 500 }, /500, .*CUDA/, 2], // prettier-ignore
  ["object: error of the caller", { object: "error", message: "no", code: 400 }, /status 400/, 1],
  ["detail as a text", { detail: "model not loaded" }, /status 500, .*model not loaded/, 2],
  ["detail as a list", { detail: [{ loc: ["body", "n"], msg: "field required" }] }, /field required/, 2], // prettier-ignore
  ["message", { message: "no healthy upstream" }, /status 500, .*no healthy upstream/, 2],
  ["message with a status", { message: "slow down", statusCode: 429 }, /status 429/, 2],
];

describe("an error with status 200", () => {
  it.each(ERRORS)("shows its message and is retried as its status says: %s", async (...given) => {
    const [, body, message, attempts] = given;
    const expected = errorWith("HTTP_STATUS", message);
    answer = (response) => {
      sendJson(response, body);
    };
    server.received.length = 0;
    await expect(chat()).rejects.toThrow(expected);
    expect(server.received).toHaveLength(attempts);
    await expect(completionsClient("policy", settings()).complete({ prompt: "?" })).rejects.toThrow(
      expected,
    );
    const { baseUrl } = settings();
    const shape = z.object(chatShape).parse({ baseUrl, model: "m", apiKeyEnv: null, retries: 0 });
    await expect(embeddingsClient("encoder", shape)(["a"])).rejects.toThrow(expected);
    events(piece({ content: "Os" }), body);
    await expect(streamed()).rejects.toThrow(expected);
    // Some gateways send the error as the body of what they call a stream.
    answer = (response) =>
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .end(JSON.stringify(body, null, 1));
    await expect(streamed()).rejects.toThrow(expected);
  });

  it("is quoted by its message where it is long, and as text where it is a page", async () => {
    const padding = "x".repeat(500);
    answer = (response) => {
      sendJson(response, { request: padding, error: { param: padding, message: "boom" } }, 500);
    };
    await expect(chat()).rejects.toThrow(errorWith("HTTP_STATUS", 'saying "boom"'));
    answer = (response) =>
      response
        .writeHead(502, { "content-type": "text/html" })
        .end(
          "<html><head><style>p{}</style><title>502 Bad Gateway</title></head><p>nginx</p></html>",
        );
    await expect(chat()).rejects.toThrow(
      errorWith("HTTP_STATUS", 'status 502, saying "502 Bad Gateway nginx" (a web page)'),
    );
    events();
    answer = (response) =>
      response.writeHead(200, { "content-type": "text/event-stream" }).end("<html>Log in</html>");
    await expect(streamed()).rejects.toThrow(errorWith("HTTP_BAD_REPLY", '"Log in" (a web page)'));
  });

  it("of an event that is named error is its text", async () => {
    answer = (response) =>
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .end("event: error\ndata: out of memory\n\n");
    await expect(streamed()).rejects.toThrow(errorWith("HTTP_STATUS", "out of memory"));
  });
});

describe("embeddings", () => {
  const embed = (data: unknown) => {
    answer = (response) => {
      sendJson(response, { data });
    };
    const { baseUrl } = settings();
    const shape = z.object(chatShape).parse({ baseUrl, model: "m", apiKeyEnv: null, retries: 0 });
    return embeddingsClient("encoder", shape)(["a", "b"]);
  };
  const vector = (index: unknown, embedding: unknown) => ({ index, embedding });

  it("are in the order of their indices, or as sent where there are none", async () => {
    const vectors = [Float32Array.of(1), Float32Array.of(2)];
    expect(await embed([vector(1, [2]), vector(0, [1])])).toEqual(vectors);
    expect(await embed([{ embedding: [1] }, { embedding: [2] }])).toEqual(vectors);
  });

  it.each([
    ["one index twice", [vector(0, [1]), vector(0, [2])]],
    ["unequal lengths", [vector(0, [1]), vector(1, [2, 3])]],
    ["null in a vector", [vector(0, [1]), vector(1, [null])]],
    ["too few", [vector(0, [1])]],
  ])("are refused with %s", async (_name, data) => {
    await expect(embed(data)).rejects.toThrow(errorWith("HTTP_BAD_REPLY", "$.data"));
  });
});

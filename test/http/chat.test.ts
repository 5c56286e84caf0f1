import { beforeEach, describe, expect, it, vi } from "vitest";
import { parseOptions, z } from "../../src/base/schema.ts";
import { chatClient } from "../../src/http/chat.ts";
import { chatShape } from "../../src/http/chat-settings.ts";
import type { ChatMessage } from "../../src/http/chat-messages.ts";
import { errorWith } from "../helpers/error-with.ts";
import { localServer, sendJson } from "../helpers/local-server.ts";

let reply: unknown;
const server = await localServer((_request, response) => {
  sendJson(response, reply);
});
const settingsOf = (given: object = {}) =>
  parseOptions(
    z.strictObject(chatShape),
    { baseUrl: `${server.url}/v1`, model: "tiny", apiKeyEnv: null, ...given },
    "judge",
  );
const messages = [{ role: "user" as const, content: "Who?" }];

beforeEach(() => {
  server.received.length = 0;
});

describe("a chat client", () => {
  it("asks for one completion and gives its text, why it ended and what it cost", async () => {
    reply = {
      id: "x",
      choices: [
        { index: 0, message: { role: "assistant", content: "Ada." }, finish_reason: "stop" },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
    };
    const client = chatClient("judge", settingsOf());
    const asked = { messages, temperature: 0, topP: 1, maxTokens: 9, stop: ["\n"], seed: 7 };
    expect(await client.complete({ ...asked, extra: { top_k: 1 } })).toEqual({
      text: "Ada.",
      toolCalls: [],
      finishReason: "stop",
      usage: { promptTokens: 3, completionTokens: 2 },
      firstTokenMs: null,
      totalMs: expect.any(Number) as number,
    });
    expect(server.received[0]?.url).toBe("/v1/chat/completions");
    expect(server.received[0]?.headers.authorization).toBeUndefined();
    expect(JSON.parse(server.received[0]!.body)).toEqual({
      model: "tiny",
      messages,
      temperature: 0,
      top_p: 1,
      max_tokens: 9,
      stop: ["\n"],
      seed: 7,
      stream: false,
      top_k: 1,
    });
  });

  it("leaves to the server what it is not told, and takes a reply without text, count or reason", async () => {
    reply = { choices: [{ message: { content: null } }] };
    const client = chatClient("judge", settingsOf({ tokenLimit: "max_completion_tokens" }));
    expect(await client.complete({ messages, maxTokens: 5 })).toEqual({
      text: "",
      toolCalls: [],
      finishReason: null,
      usage: null,
      firstTokenMs: null,
      totalMs: expect.any(Number) as number,
    });
    expect(JSON.parse(server.received[0]!.body)).toEqual({
      model: "tiny",
      messages,
      max_completion_tokens: 5,
      stream: false,
    });
  });

  it("sends the key of the variable that it is told", async () => {
    process.env["AGENTRL_TEST_CHAT_KEY"] = "sk-1";
    reply = { choices: [{ message: { content: "" } }] };
    await chatClient("judge", settingsOf({ apiKeyEnv: "AGENTRL_TEST_CHAT_KEY" })).complete({
      messages,
    });
    expect(server.received[0]?.headers.authorization).toBe("Bearer sk-1");
  });

  it("wants the key of a variable that is named, and the default one's for a server elsewhere", () => {
    const open = (given: object) => () => chatClient("judge", settingsOf(given));
    const named = errorWith("HTTP_KEY_MISSING", /judge\.apiKeyEnv.*AGENTRL_TEST_NO_KEY/);
    expect(open({ apiKeyEnv: "AGENTRL_TEST_NO_KEY" })).toThrow(named);
    vi.stubEnv("OPENAI_API_KEY", "");
    try {
      expect(open({ apiKeyEnv: undefined })).not.toThrow();
      const elsewhere = { apiKeyEnv: undefined, baseUrl: "https://models.example/v1" };
      expect(open(elsewhere)).toThrow(errorWith("HTTP_KEY_MISSING", "OPENAI_API_KEY"));
    } finally {
      vi.unstubAllEnvs();
    }
  });

  it("offers tools and sends calls and their results back, arguments that are no JSON object inside of one", async () => {
    reply = {
      choices: [
        {
          message: {
            content: null,
            reasoning: "Hm.",
            tool_calls: [
              { id: "a", type: "function", function: { name: "search", arguments: "{oops" } },
              { function: { name: "search", arguments: { query: "x" } } },
              { id: null, function: { name: "stop", arguments: null } },
            ],
          },
          finish_reason: "tool_calls",
        },
      ],
    };
    const parameters = { type: "object", properties: { query: { type: "string" } } };
    const tools = [
      {
        type: "function" as const,
        function: { name: "search", description: "Finds.", parameters },
      },
    ];
    const before: ChatMessage[] = [
      ...messages,
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "0", name: "search", arguments: "{" },
          { id: "1", name: "search", arguments: '{ "q": 1 }' },
        ],
      },
      { role: "tool", tool_call_id: "0", name: "search", content: "Nothing." },
    ];
    const client = chatClient("policy", settingsOf());
    const asked = { messages: before, tools, toolChoice: { name: "search" } };
    expect(await client.complete(asked)).toMatchObject({
      text: "",
      reasoning: "Hm.",
      finishReason: "tool_calls",
      toolCalls: [
        { id: "a", name: "search", arguments: "{oops" },
        { id: "call_1", name: "search", arguments: '{"query":"x"}' },
        { id: "call_2", name: "stop", arguments: "" },
      ],
    });
    expect(JSON.parse(server.received[0]!.body)).toMatchObject({
      tools,
      tool_choice: { type: "function", function: { name: "search" } },
      messages: [
        messages[0],
        {
          role: "assistant",
          content: null,
          tool_calls: [
            {
              id: "0",
              type: "function",
              function: { name: "search", arguments: '{"malformed":"{"}' },
            },
            { id: "1", type: "function", function: { name: "search", arguments: '{ "q": 1 }' } },
          ],
        },
        { role: "tool", tool_call_id: "0", name: "search", content: "Nothing." },
      ],
    });
    await client.complete({ messages, tools, toolChoice: "required" });
    expect(JSON.parse(server.received[1]!.body)).toMatchObject({ tool_choice: "required" });
  });

  it.each([
    ["stop", ""],
    ["stop", null],
    ["content_filter", null],
    ["length", "The ans"],
  ])("gives %s with %j as it is: no failure of the server's", async (finish_reason, content) => {
    reply = { choices: [{ message: { content }, finish_reason }] };
    expect(await chatClient("policy", settingsOf()).complete({ messages })).toMatchObject({
      text: content ?? "",
      toolCalls: [],
      finishReason: finish_reason,
    });
  });

  it("takes text in parts, thoughts apart", async () => {
    const content = [
      { type: "thinking", thinking: [] },
      { type: "text", text: "A" },
      { text: "b" },
    ];
    reply = { choices: [{ message: { content, reasoning_content: "Hm." } }] };
    expect(await chatClient("policy", settingsOf()).complete({ messages })).toMatchObject({
      text: "Ab",
      reasoning: "Hm.",
    });
  });

  it("counts tokens and what they cost", async () => {
    reply = {
      choices: [{ message: { content: "A" } }],
      usage: { prompt_tokens: 300, completion_tokens: 50 },
    };
    const price = { promptPerMillion: 1, completionPerMillion: 2, currency: "EUR" };
    const client = chatClient("policy", { ...settingsOf(), price });
    await client.complete({ messages });
    await client.complete({ messages });
    expect(client.meter.reading()).toMatchObject({
      requests: 2,
      promptTokens: 600,
      completionTokens: 100,
      uncounted: 0,
      cost: { amount: 0.0008, currency: "EUR" },
    });
  });

  it("names a reply without choices", async () => {
    reply = { choices: [] };
    await expect(chatClient("judge", settingsOf()).complete({ messages })).rejects.toThrow(
      errorWith("HTTP_BAD_REPLY", "$.choices"),
    );
  });
});

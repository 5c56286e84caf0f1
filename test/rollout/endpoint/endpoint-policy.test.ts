import { describe, expect, it } from "vitest";
import { parseOptions } from "../../../src/base/schema.ts";
import { endpointPolicy } from "../../../src/rollout/endpoint/endpoint-policy.ts";
import { endpointSchema } from "../../../src/rollout/model-settings.ts";
import { openStrategy } from "../../../src/rollout/strategies/named-strategy.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import "../../helpers/all-parts.ts";
import { type AskedChat, type ChatAnswer, chatServer } from "../../helpers/chat-server.ts";
import { sendJson } from "../../helpers/local-server.ts";
import { rolloutOptions, searchEnvironment } from "../../helpers/search-world.ts";

/** Plays with a server that answers as told; retries are quick and few. */
async function play(
  answer: ChatAnswer,
  {
    endpoint = {},
    environment = {},
    strategy = "agent",
  }: { endpoint?: object; environment?: Record<string, unknown>; strategy?: string } = {},
): Promise<{ trajectory: Trajectory; asked: AskedChat[] }> {
  const server = await chatServer(answer);
  const given = { baseUrl: `${server.url}/v1`, model: "m", apiKeyEnv: null, retries: 1 };
  const settings = { ...given, retryDelayMs: 1, timeoutMs: 300, ...endpoint };
  const { policy } = endpointPolicy(parseOptions(endpointSchema, settings, "test"));
  const trajectory = await openStrategy(strategy, "test").run(
    rolloutOptions({ policy, environment: searchEnvironment(environment), purpose: "eval" }),
  );
  await server.close();
  return { trajectory, asked: server.received.map(({ body }) => JSON.parse(body) as AskedChat) };
}

/** A trajectory of texts for reading. */
function readable({ calls, end, answer }: Trajectory): string {
  const lines = calls.flatMap(({ parent, prompt, completion, finish }, i) => [
    `call ${i} after ${parent ?? "nothing"}, ${finish}`,
    ...[...prompt, ...completion].map(({ owner, text }) => `  ${owner}: ${JSON.stringify(text)}`),
  ]);
  return [...lines, `${end}, answer ${JSON.stringify(answer)}`].join("\n");
}

const messagesOf = (asked: AskedChat | undefined) =>
  asked?.messages.map(({ role, content }) => `${role}: ${content ?? "null"}`);

describe("a chat server as a policy", () => {
  it("is shown the prompt and what searches found as the user's messages, and writes its own", async () => {
    const { trajectory, asked } = await play(({ messages }) =>
      messages.length === 1
        ? "<think>so</think><search>capital Norway</search>"
        : "<answer>Oslo</answer>",
    );
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, eos
        template: "Question: What is the capital of Norway?\\n"
        policy: "<think>so</think><search>capital Norway</search>"
      call 1 after 0, eos
        environment: "\\n\\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\\n</information>\\n\\n"
        policy: "<answer>Oslo</answer>"
      answered, answer "Oslo""
    `);
    expect(messagesOf(asked[1])).toMatchInlineSnapshot(`
      [
        "user: Question: What is the capital of Norway?
      ",
        "assistant: <think>so</think><search>capital Norway</search>",
        "user: 

      <information>Doc 1(Title: Oslo) Oslo is the capital of Norway.
      </information>

      ",
      ]
    `);
    expect(trajectory.calls[0]).toMatchObject({
      usage: { promptTokens: 10, completionTokens: 4 },
      policyVersion: null,
    });
    expect(asked[0]).toMatchObject({ stop: ["</search>"], max_tokens: 500 });
    expect(new Set(asked.map(({ seed }) => seed)).size).toBe(2);
  });

  it("gets the text back that stopped the server where the message is complete only with it", async () => {
    const { trajectory, asked } = await play(({ messages }) =>
      messages.length === 1 ? "<search>capital Norway" : "<answer>Oslo</answer>",
    );
    expect(trajectory.turns[0]).toMatchObject({
      text: "<search>capital Norway</search>",
      actions: [{ tool: "search", input: "capital Norway" }],
      problems: [],
    });
    expect(trajectory.calls[0]!.finish).toBe("stop");
    expect(messagesOf(asked[1])![1]).toBe("assistant: <search>capital Norway</search>");
  });

  it("does not complete a message that its length cut off", async () => {
    const { trajectory } = await play(({ messages }) => ({
      message: { content: messages.length === 1 ? "<search>capital" : "<answer>Oslo</answer>" },
      finish_reason: messages.length === 1 ? "length" : "stop",
    }));
    expect(trajectory.turns[0]).toMatchObject({ actions: [], problems: [{ code: "no-action" }] });
    expect(trajectory.calls[0]!.finish).toBe("length");
  });

  it("is not shown again what it wrote beyond the cut", async () => {
    const wrote = "<search>capital Norway</search><information>It is Lima.</information>";
    const { asked } = await play(({ messages }) =>
      messages.length === 1 ? wrote : "<answer>Oslo</answer>",
    );
    expect(messagesOf(asked[1])![1]).toBe("assistant: <search>capital Norway</search>");
  });

  it("has the protocol explained where the prompt asks for it, and a system's message where one is set", async () => {
    const { asked } = await play(() => "<answer>Oslo</answer>", {
      endpoint: { system: "Be brief." },
      environment: { prompt: "{instructions}\n\n{question}" },
    });
    const [system, user] = messagesOf(asked[0])!;
    expect(system).toBe("system: Be brief.");
    expect(user).toMatch(/<search> and <\/search>.*\n\nWhat is the capital of Norway\?$/s);
  });

  it("keeps what a reasoning model thought, and does not show it again", async () => {
    const { trajectory, asked } = await play(({ messages }) => ({
      message: {
        content: messages.length === 1 ? "<search>Oslo</search>" : "<answer>Oslo</answer>",
        reasoning_content: "hm",
      },
      finish_reason: "stop",
    }));
    expect(trajectory.calls[0]!.reasoning).toBe("hm");
    expect(JSON.stringify(asked[1])).not.toContain("hm");
  });

  it("is asked for an answer in words where a strategy would force its beginning", async () => {
    const server = await chatServer(() => "<answer>Oslo</answer>");
    const given = { baseUrl: server.url, model: "m", apiKeyEnv: null };
    const { policy } = endpointPolicy(parseOptions(endpointSchema, given, "test"));
    const strategy = openStrategy("rag", "test");
    const trajectory = await strategy.run(rolloutOptions({ policy, purpose: "eval" }));
    expect(trajectory).toMatchObject({ answer: "Oslo", given: [{ passageIds: ["oslo"] }] });
    const [asked] = server.received.map(({ body }) => JSON.parse(body) as AskedChat);
    expect(messagesOf(asked)![0]).toMatch(/Oslo is the capital.*Answer now, without a search/s);
  });
});

describe("a chat server that calls tools itself", () => {
  const native = { environment: { protocol: { name: "hermes", calls: "native" } } };
  const calling = (...calls: [name: string, given: string][]) => ({
    message: {
      content: null,
      tool_calls: calls.map(([name, given], i) => ({
        id: `call-${i}`,
        type: "function",
        function: { name, arguments: given },
      })),
    },
    finish_reason: "tool_calls",
  });

  it("is offered the environment's tools, and given each result as the tool's message", async () => {
    const { trajectory, asked } = await play(
      ({ messages }) =>
        messages.length === 1
          ? calling(
              ["search", '{"query": "capital Norway"}'],
              ["search", '{"query": "rain Bergen"}'],
            )
          : "<answer>Oslo</answer>",
      native,
    );
    expect(asked[0]!.tools).toMatchObject([
      { type: "function", function: { name: "search", parameters: { required: ["query"] } } },
    ]);
    expect(asked[0]!.stop).toBeUndefined();
    expect(trajectory.turns[0]).toMatchObject({
      actions: [
        { tool: "search", input: "capital Norway" },
        { tool: "search", input: "rain Bergen" },
      ],
      observations: [{ passageIds: ["oslo"] }, { passageIds: ["bergen"] }],
      problems: [],
    });
    const [, assistant, ...results] = asked[1]!.messages;
    expect(assistant!.tool_calls).toHaveLength(2);
    expect(results.map(({ role, tool_call_id: id, content }) => [role, id, content])).toEqual([
      ["tool", "call-0", expect.stringContaining("Oslo is the capital")],
      ["tool", "call-1", expect.stringContaining("much rain")],
    ]);
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
  });

  it("is given its own call's result as that, though it wrote another call in the text", async () => {
    const written = '<tool_call>{"name": "search", "arguments": {"query": "rain"}}</tool_call>';
    const { asked } = await play(({ messages }) => {
      if (messages.length > 1) return "<answer>Oslo</answer>";
      const { message, ...rest } = calling(
        ["search", '{"query": "capital Norway"}'],
        ["browse", "{}"],
      );
      return { message: { ...message, content: written }, ...rest };
    }, native);
    const [first, second] = asked[1]!.messages.slice(2);
    expect(first!.content).toMatch(/much rain[^]*Oslo is the capital/);
    expect(second!.content).toContain('There is no tool "browse"');
  });

  it("is offered none by a strategy under which they would never run", async () => {
    const { trajectory, asked } = await play(() => "<answer>Oslo</answer>", {
      ...native,
      strategy: "direct",
    });
    expect(asked).toHaveLength(1);
    expect(asked[0]!.tools).toBeUndefined();
    expect(trajectory.answer).toBe("Oslo");
  });

  it("is told of arguments that are not JSON and of tools that there are not, and may go on", async () => {
    const { trajectory, asked } = await play(
      ({ messages }) =>
        messages.length === 1
          ? calling(["search", '{"query": '], ["browse", "{}"])
          : "<answer>Oslo</answer>",
      native,
    );
    expect(trajectory.turns[0]).toMatchObject({
      problems: [{ code: "bad-call", message: "the call is not JSON" }],
      observations: [{ problem: { code: "bad-call" } }, { problem: { code: "unknown-tool" } }],
    });
    expect(messagesOf(asked[1])!.slice(2)).toEqual([
      "tool: That call was not run: the call is not JSON.",
      'tool: There is no tool "browse". There are: search.',
    ]);
    // Servers that parse the calls of earlier messages refuse a request with arguments that are not JSON; what was written is kept.
    expect(asked[1]!.messages[1]!.tool_calls).toMatchObject([
      { function: { name: "search", arguments: '{"malformed":"{\\"query\\": "}' } },
      { function: { name: "browse", arguments: "{}" } },
    ]);
    expect(trajectory.end).toBe("answered");
  });
});

describe("a completions server as a policy", () => {
  it("continues one text that grows, as in training", async () => {
    const { trajectory, asked } = await play(
      ({ prompt = "" }) =>
        prompt.includes("information") ? "<answer>Oslo</answer>" : "<search>capital Norway",
      { endpoint: { api: "completions" } },
    );
    expect(asked.map(({ prompt }) => prompt)).toMatchInlineSnapshot(`
      [
        "Question: What is the capital of Norway?
      ",
        "Question: What is the capital of Norway?
      <search>capital Norway</search>

      <information>Doc 1(Title: Oslo) Oslo is the capital of Norway.
      </information>

      ",
      ]
    `);
    expect(trajectory.answer).toBe("Oslo");
  });
});

describe("a server that fails", () => {
  const failing: Record<string, [ChatAnswer, code: string]> = {
    "is slow": [() => null, "HTTP_TIMEOUT"],
    "cuts the connection": [(_, response) => (response.destroy(), null), "HTTP_UNREACHABLE"],
    "answers no JSON": [(_, response) => (response.end("<html>"), null), "HTTP_BAD_REPLY"],
    "refuses every time": [
      (_, response) => (response.writeHead(500).end("broken"), null),
      "HTTP_STATUS",
    ],
    "asks to wait longer than there is time": [
      (_, response) => (response.writeHead(429, { "retry-after": "999" }).end(), null),
      "HTTP_STATUS",
    ],
    "writes nothing, and no reason why": [
      () => ({ message: { content: "" }, finish_reason: "" }),
      "COMPLETION_EMPTY",
    ],
    "withholds the message": [
      () => ({ message: { content: "" }, finish_reason: "content_filter" }),
      "COMPLETION_FILTERED",
    ],
  };

  it.each(Object.entries(failing))(
    "%s: the rollout ends in an error of its own code, not in a wrong answer",
    async (_, [answer, code]) => {
      const { trajectory } = await play(answer);
      expect(trajectory).toMatchObject({
        end: "model-error",
        answer: null,
        error: { boundary: "model", code },
      });
    },
  );

  it("whose model writes nothing has not failed: the message is the policy's, and empty", async () => {
    const { trajectory } = await play(
      (_, response) => {
        const choices = [{ message: { content: "" }, finish_reason: "stop" }];
        sendJson(response, { choices, usage: { prompt_tokens: 9, completion_tokens: 300 } });
        return null;
      },
      {
        environment: {
          budgets: [{ scope: "trajectory", unit: "turns", limit: 1, onExhausted: "end" }],
        },
      },
    );
    expect(trajectory).toMatchObject({ end: "turn-limit", answer: null });
    expect(trajectory.turns).toMatchObject([{ text: "", problems: [{ code: "no-action" }] }]);
  });

  it("cuts its stream: neither is that an answer", async () => {
    const { trajectory } = await play(
      (_, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" });
        response.write('data: {"choices":[{"delta":{"content":"<answer>Os"}}]}\n\n');
        setImmediate(() => response.destroy());
        return null;
      },
      { endpoint: { stream: true } },
    );
    expect(trajectory).toMatchObject({ end: "model-error", error: { code: "HTTP_CUT" } });
  });

  it("once, and then answers: nothing is lost", async () => {
    const { trajectory } = await play((_asked, response, count) => {
      if (count > 1) return "<answer>Oslo</answer>";
      response.writeHead(503).end();
      return null;
    });
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
  });

  it("because the conversation is too long for it: its context is full, which is no failure", async () => {
    const { trajectory } = await play((asked, response) => {
      if (asked.messages.length === 1) return "<search>capital Norway</search>";
      const message =
        "This model's maximum context length is 64 tokens. However, you requested 90.";
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error: { message, code: "context_length_exceeded" } }));
      return null;
    });
    expect(trajectory).toMatchObject({ end: "context-limit", answer: null });
    expect(trajectory.error).toBeUndefined();
  });
});

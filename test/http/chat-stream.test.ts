import type { ServerResponse } from "node:http";
import { beforeEach, describe, expect, it } from "vitest";
import { parseOptions, z } from "../../src/base/schema.ts";
import { chatClient } from "../../src/http/chat.ts";
import { measuredModelShape } from "../../src/http/chat-settings.ts";
import type { ChatReply } from "../../src/http/chat-messages.ts";
import { errorWith } from "../helpers/error-with.ts";
import { localServer, sendJson } from "../helpers/local-server.ts";

let answer: (response: ServerResponse, count: number) => void;
const server = await localServer((_request, response, count) => {
  answer(response, count);
});
const clientOf = (given: object = {}) =>
  chatClient(
    "policy",
    parseOptions(
      z.strictObject(measuredModelShape),
      {
        baseUrl: `${server.url}/v1`,
        model: "tiny",
        apiKeyEnv: null,
        stream: true,
        retryDelayMs: 0,
        ...given,
      },
      "policy",
    ),
  );
const messages = [{ role: "user" as const, content: "Who?" }];
const ask = (given: object = {}): Promise<ChatReply> => clientOf(given).complete({ messages });

const STREAM = { "content-type": "text/event-stream; charset=utf-8" };
const event = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (piece: object, finish_reason: string | null = null, index = 0): string =>
  event({ choices: [{ index, delta: piece, finish_reason }] });
const DONE = "data: [DONE]\n\n";
const usage = event({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 4 } });

beforeEach(() => {
  server.received.length = 0;
});

describe("a streamed chat", () => {
  it("is asked for with its usage, and put together from its pieces wherever they are cut", async () => {
    const whole = Buffer.from(
      ": hello\n\n" +
        delta({ role: "assistant", content: "" }) +
        delta({ reasoning_content: "Hm, 東" }) +
        delta({ reasoning_content: "京." }) +
        delta({ content: "Ærø" }) +
        delta({ content: "!" }, "stop") +
        usage +
        DONE,
    );
    let cut = 0;
    answer = (response) => {
      response.writeHead(200, STREAM);
      response.write(whole.subarray(0, cut));
      setImmediate(() => response.end(whole.subarray(cut)));
    };
    const client = clientOf();
    for (cut = 1; cut < whole.length; cut += 7) {
      const { firstTokenMs, totalMs, ...reply } = await client.complete({ messages });
      expect(reply).toEqual({
        text: "Ærø!",
        reasoning: "Hm, 東京.",
        toolCalls: [],
        finishReason: "stop",
        usage: { promptTokens: 9, completionTokens: 4 },
      });
      expect(firstTokenMs).toBeGreaterThan(0);
      expect(firstTokenMs).toBeLessThanOrEqual(totalMs);
    }
    expect(JSON.parse(server.received[0]!.body)).toEqual({
      model: "tiny",
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    expect(client.meter.reading()).toMatchObject({ requests: server.received.length, retries: 0 });
  });

  it("tells when the first token came, not the first byte", async () => {
    answer = (response) => {
      response.writeHead(200, STREAM);
      response.write(delta({ role: "assistant", content: "" }));
      setTimeout(() => response.end(delta({ content: "A" }, "stop") + DONE), 30);
    };
    const { firstTokenMs } = await ask();
    expect(firstTokenMs).toBeGreaterThan(25);
  });

  it("passes calls of tools through as they were written, whole or in pieces", async () => {
    const call = (piece: object) => delta({ tool_calls: [piece] });
    answer = (response) =>
      response
        .writeHead(200, STREAM)
        .end(
          call({
            index: 0,
            id: "a",
            type: "function",
            function: { name: "search", arguments: "" },
          }) +
            call({ index: 0, function: { arguments: '{"que' } }) +
            call({ index: 1, id: "b", function: { name: "search", arguments: "{not JSON" } }) +
            call({ index: 0, function: { arguments: 'ry":1}' } }) +
            delta({}, "tool_calls") +
            DONE,
        );
    expect(await ask()).toMatchObject({
      text: "",
      toolCalls: [
        { id: "a", name: "search", arguments: '{"query":1}' },
        { id: "b", name: "search", arguments: "{not JSON" },
      ],
      finishReason: "tool_calls",
      usage: null,
    });
  });

  it("tells calls apart that come without a place, or all with the same", async () => {
    const call = (id: string | null, index?: number) => ({
      index,
      id,
      function: { name: "search", arguments: `"${id ?? ""}"` },
    });
    answer = (response) =>
      response
        .writeHead(200, STREAM)
        .end(
          delta({ tool_calls: [call("a", 0), call("b", 0)] }) +
            delta({ tool_calls: [call("c")] }, "stop") +
            DONE,
        );
    expect((await ask()).toolCalls.map(({ id }) => id)).toEqual(["a", "b", "c"]);
    answer = (response) =>
      response.writeHead(200, STREAM).end(delta({ tool_calls: [call(null)] }, "stop") + DONE);
    expect((await ask()).toolCalls).toEqual([{ id: "call_0", name: "search", arguments: '""' }]);
  });

  it("is complete at [DONE], though the server goes on and on", async () => {
    answer = (response) => {
      response.writeHead(200, STREAM).write(delta({ content: "A" }, "stop") + DONE + "data: {");
    };
    expect((await ask({ timeoutMs: 500 })).text).toBe("A");
  });

  it("is complete without [DONE] once it has been said why it ended", async () => {
    answer = (response) => response.writeHead(200, STREAM).end(delta({ content: "A" }, "length"));
    expect(await ask()).toMatchObject({ text: "A", finishReason: "length" });
  });

  it("is complete then also where the connection is reset instead of closed, and is not paid for twice", async () => {
    answer = (response) => {
      response.writeHead(200, STREAM);
      response.write(delta({ content: "A" }, "stop") + usage, () => {
        setTimeout(() => response.destroy(), 20);
      });
    };
    const { text, usage: counted } = await ask();
    expect([text, counted?.completionTokens]).toEqual(["A", 4]);
    expect(server.received).toHaveLength(1);
  });

  it("is asked for again when it is cut: in the middle of its text, of an event, of a character", async () => {
    const good = delta({ content: "東京" }, "stop") + DONE;
    const half = Buffer.from(delta({ content: "東京" }));
    answer = (response, count) => {
      response.writeHead(200, STREAM);
      if (count === 1) response.end(delta({ content: "東" }));
      else if (count === 2) response.end(half.subarray(0, half.indexOf("東") + 1));
      else if (count === 3) response.write(half.subarray(0, 20), () => response.destroy());
      else if (count === 4) response.end();
      else response.end(good);
    };
    const client = clientOf();
    expect((await client.complete({ messages })).text).toBe("東京");
    expect(client.meter.reading()).toMatchObject({ requests: 1, retries: 4, failed: 0 });
    answer = (response) => response.writeHead(200, STREAM).end(delta({ content: "東" }));
    await expect(ask({ retries: 1 })).rejects.toThrow(
      errorWith("HTTP_CUT", "the reply was cut: the stream ended before its end (2 attempts"),
    );
  });

  it("takes an error in its middle for a refusal of the status that it names", async () => {
    const busy = event({ error: { message: "queue full", code: 503 } });
    answer = (response, count) => {
      response.writeHead(200, STREAM).end(count === 1 ? delta({ content: "A" }) + busy : DONE);
    };
    expect((await ask()).finishReason).toBeNull();
    expect(server.received).toHaveLength(2);
    answer = (response) =>
      response
        .writeHead(200, STREAM)
        .end('event: error\ndata: {"message":"no such thing","type":"invalid_request_error"}\n\n');
    await expect(ask()).rejects.toThrow(errorWith("HTTP_STATUS", 'status 400, saying "{'));
  });

  it("names a piece that is not of the shape, or is no JSON", async () => {
    for (const bad of [event({ choices: 7 }), "data: <html>\n\n"]) {
      answer = (response) => response.writeHead(200, STREAM).end(bad + DONE);
      await expect(ask()).rejects.toThrow(
        errorWith("HTTP_BAD_REPLY", "the reply is not of the expected shape: "),
      );
    }
    expect(server.received).toHaveLength(2);
  });

  it("may come whole from a server that does not stream, and never past its size or time", async () => {
    answer = (response) => {
      sendJson(response, { choices: [{ message: { content: "A" }, finish_reason: "stop" }] });
    };
    expect(await ask()).toMatchObject({ text: "A", firstTokenMs: null });
    const endless = (response: ServerResponse): void => {
      response.writeHead(200, STREAM);
      const more = setInterval(() => response.write(delta({ content: "x".repeat(1000) })), 1);
      response.on("close", () => {
        clearInterval(more);
      });
    };
    answer = endless;
    await expect(ask({ maxReplyBytes: 20_000 })).rejects.toThrow(errorWith("HTTP_BAD_REPLY"));
    const slow = ask({ timeoutMs: 60, retries: 0 });
    await expect(slow).rejects.toThrow(errorWith("HTTP_TIMEOUT", "no whole answer within 60 ms"));
  });

  it("gives the log-probabilities of its tokens, and other choices than the first are passed over", async () => {
    const piece = (token: string, logprob: number) => ({
      index: 0,
      delta: { content: token },
      logprobs: { content: [{ token, logprob }] },
    });
    answer = (response) =>
      response
        .writeHead(200, STREAM)
        .end(
          event({ choices: [piece("A", -0.5)] }) +
            delta({ content: "other" }, null, 1) +
            event({ choices: [{ ...piece("b", -1), finish_reason: "stop" }] }) +
            DONE,
        );
    const reply = await clientOf().complete({ messages, logprobs: true });
    expect(reply).toMatchObject({
      text: "Ab",
      logprobs: [
        { token: "A", logprob: -0.5 },
        { token: "b", logprob: -1 },
      ],
    });
    expect(JSON.parse(server.received[0]!.body)).toMatchObject({ logprobs: true });
  });
});

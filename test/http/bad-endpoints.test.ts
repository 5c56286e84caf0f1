import type { ServerResponse } from "node:http";
import { beforeEach, describe, expect, it } from "vitest";
import { parseOptions, z } from "../../src/base/schema.ts";
import { chatClient } from "../../src/http/chat.ts";
import { measuredModelShape } from "../../src/http/chat-settings.ts";
import type { ChatReply } from "../../src/http/chat-messages.ts";
import type { HttpEnvironment } from "../../src/http/endpoint.ts";
import { errorWith } from "../helpers/error-with.ts";
import { localServer, sendJson } from "../helpers/local-server.ts";

let answer: (response: ServerResponse, count: number) => void;
let models: ((response: ServerResponse) => void) | null = null;
const server = await localServer(({ url }, response, count) => {
  if (url.endsWith("/models") && models !== null) models(response);
  else answer(response, count);
});
const waits: number[] = [];
/** A clock that only sleeping moves. */
let clock = 0;
const environment: HttpEnvironment = {
  random: () => 0.5,
  now: () => clock,
  date: () => clock,
  sleep: (ms) => {
    waits.push(ms);
    clock += ms;
    return Promise.resolve();
  },
};
const clientOf = (given: object = {}) =>
  chatClient(
    "policy",
    parseOptions(
      z.strictObject(measuredModelShape),
      { baseUrl: `${server.url}/v1`, model: "tiny", apiKeyEnv: null, ...given },
      "policy",
    ),
    environment,
  );
const messages = [{ role: "user" as const, content: "Who?" }];
const ask = (given: object = {}): Promise<ChatReply> => clientOf(given).complete({ messages });
const good = (response: ServerResponse): void => {
  sendJson(response, { choices: [{ message: { content: "A" }, finish_reason: "stop" }] });
};
const refused = (response: ServerResponse, status: number, error: unknown): void => {
  sendJson(response, { error }, status);
};

beforeEach(() => {
  server.received.length = 0;
  waits.length = 0;
  models = null;
  clock = Date.UTC(2026, 0, 1);
});

describe("a model's server that behaves badly", () => {
  it("is known by its code: not there, silent, cut in the middle, cut at once", async () => {
    const gone = await localServer(() => undefined);
    await gone.close();
    const few = { retries: 1, timeoutMs: 40 };
    await expect(ask({ ...few, baseUrl: `${gone.url}/v1` })).rejects.toThrow(
      errorWith("HTTP_UNREACHABLE", "connect ECONNREFUSED"),
    );
    answer = () => undefined;
    await expect(ask(few)).rejects.toThrow(errorWith("HTTP_TIMEOUT"));
    answer = (response) => {
      response.writeHead(200, { "content-length": 100 }).write('{"choices":[', () => {
        response.destroy();
      });
    };
    await expect(ask({ retries: 1 })).rejects.toThrow(errorWith("HTTP_CUT", /\(2 attempts/));
    answer = (response) => response.destroy();
    await expect(ask({ retries: 1 })).rejects.toThrow(errorWith("HTTP_UNREACHABLE"));
  });

  it("is known by its code: no JSON, a page of HTML, another shape, too much", async () => {
    answer = (response) =>
      response
        .writeHead(200, { "content-type": "text/html" })
        .end("<!DOCTYPE html><title>Welcome to nginx!</title>");
    await expect(ask()).rejects.toThrow(
      errorWith("HTTP_BAD_REPLY", 'is not JSON. Found: "Welcome to nginx!" (a web page).'),
    );
    answer = (response) => response.end('{"choices":[{"message":{"content":"A');
    await expect(ask()).rejects.toThrow(errorWith("HTTP_BAD_REPLY", "the reply is not JSON"));
    answer = (response) => {
      sendJson(response, { choices: [{ text: "A" }] });
    };
    await expect(ask()).rejects.toThrow(errorWith("HTTP_BAD_REPLY", "$.choices.0.message"));
    answer = (response) => response.end(JSON.stringify({ choices: "x".repeat(5000) }));
    await expect(ask({ maxReplyBytes: 4000 })).rejects.toThrow(
      errorWith("HTTP_BAD_REPLY", "larger than 4000 bytes"),
    );
    expect(server.received).toHaveLength(4);
  });

  it("is asked again after 500, 429 with seconds and 429 with a date, and its retries are counted", async () => {
    answer = (response, count) => {
      const date = new Date(clock + 3000).toUTCString();
      if (count === 1) refused(response, 500, "broke");
      else if (count < 4) {
        response.writeHead(429, { "retry-after": count === 2 ? "2" : date }).end();
      } else good(response);
    };
    const client = clientOf({ retryDelayMs: 0 });
    expect((await client.complete({ messages })).text).toBe("A");
    expect(waits).toEqual([0, 2000, 3000]);
    expect(client.meter.reading()).toMatchObject({ requests: 1, retries: 3, failed: 0 });
    answer = (response) => {
      refused(response, 400, "no");
    };
    await expect(client.complete({ messages })).rejects.toThrow(errorWith("HTTP_STATUS"));
    expect(client.meter.reading()).toMatchObject({ requests: 1, retries: 3, failed: 1 });
  });

  it("says by its own code that the context is full, whatever its status, and is not asked again", async () => {
    for (const [status, message] of [
      [400, "This model's maximum context length is 512 tokens."],
      [500, "Context size has been exceeded."],
    ] as const) {
      answer = (response) => {
        refused(response, status, { message });
      };
      await expect(ask()).rejects.toThrow(
        errorWith("HTTP_CONTEXT_LENGTH", "start the server with a longer context."),
      );
    }
    expect(server.received).toHaveLength(2);
  });

  it("hides a refusal behind status 200, as gateways do", async () => {
    answer = (response, count) => {
      if (count === 1) sendJson(response, { error: { code: 502, message: "upstream" } });
      else good(response);
    };
    expect((await ask()).text).toBe("A");
    answer = (response) => {
      sendJson(response, { error: { message: "no", type: "invalid_request_error" } });
    };
    await expect(ask()).rejects.toThrow(errorWith("HTTP_STATUS", "status 400"));
  });

  it("lists its models, asked for once, where it has none of the name", async () => {
    models = (response) => {
      sendJson(response, { data: [{ id: "tiny-2" }, { id: "large" }] });
    };
    answer = (response) => {
      refused(response, 404, { message: "The model `tiny` does not exist." });
    };
    const client = clientOf();
    for (let i = 0; i < 2; i++) {
      await expect(client.complete({ messages })).rejects.toThrow(
        errorWith("HTTP_STATUS", 'model is "tiny". Did you mean "tiny-2"? Known: tiny-2, large.'),
      );
    }
    expect(server.received.filter(({ url }) => url === "/v1/models")).toHaveLength(1);
    models = (response) => {
      sendJson(response, { data: [{ id: "tiny" }] });
    };
    await expect(ask()).rejects.toThrow(errorWith("HTTP_STATUS", "The server lists the model"));
  });

  it("is looked for under /v1 where nothing else answers", async () => {
    answer = (response) => response.writeHead(404).end("Not Found");
    await expect(ask({ baseUrl: `${server.url}/` })).rejects.toThrow(
      errorWith("HTTP_STATUS", `does not end in a version: try ${server.url}/v1.`),
    );
    await expect(ask()).rejects.toThrow(errorWith("HTTP_STATUS", /status \d+/));
  });

  it("refuses a key: the message names the variable and not the key", async () => {
    process.env["AGENTRL_TEST_POLICY_KEY"] = "sk-secret";
    answer = (response) => {
      refused(response, 401, { message: "Incorrect API key provided: sk-secret" });
    };
    const refusal = ask({ apiKeyEnv: "AGENTRL_TEST_POLICY_KEY" });
    await expect(refusal).rejects.toThrow(errorWith("HTTP_STATUS", "AGENTRL_TEST_POLICY_KEY"));
    await expect(refusal).rejects.not.toThrow(/sk-secret/);
  });
});

describe("tokens a minute", () => {
  it("are guessed before a request and put right after it", async () => {
    answer = (response) => {
      sendJson(response, {
        choices: [{ message: { content: "A" } }],
        usage: { prompt_tokens: 400, completion_tokens: 200 },
      });
    };
    // 600 tokens are ten seconds' worth, whatever was guessed.
    const client = clientOf({ tokensPerMinute: 3600 });
    for (let i = 0; i < 3; i++) await client.complete({ messages, maxTokens: 1000 });
    expect(waits).toEqual([10_000, 10_000]);
  });
});

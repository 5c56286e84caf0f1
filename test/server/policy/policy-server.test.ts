import { mkdtempSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { scriptedPolicy, type TokenPolicy } from "../../../src/rollout/policy.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { tokenizer } from "../../helpers/search-world.ts";
import { chatml, type Reply, servePolicy } from "../../helpers/served-policy.ts";

const writing = (text: string, maxPositions?: number): TokenPolicy =>
  scriptedPolicy(tokenizer, () => text, maxPositions);

/** Writes letter by letter, which no tokenizer would: encoding its text again gives other ids. */
const spelling = (text: string): TokenPolicy => ({
  ...scriptedPolicy(tokenizer, () => text),
  complete: () => {
    const letters = Array.from(text, (letter) => tokenizer.encode(letter));
    const ids = [...letters.flat(), tokenizer.endId!];
    return Promise.resolve({ ids, logprobs: ids.map((_, i) => -(i + 1) / 8), finish: "eos" });
  },
});

const first = ({ body }: Reply) => body.choices[0]!;
const user = (content: string) => ({ role: "user", content });
const assistant = (content: string) => ({ role: "assistant", content });
const IDS = { return_token_ids: true };
const end = tokenizer.decode([tokenizer.endId!]);

describe("a served policy", () => {
  it("continues a conversation with the very tokens that it has sampled", async () => {
    const answer = " the capital";
    const client = await servePolicy(spelling(answer), { template: chatml(end) });
    const asked = [user("where?")];
    const one = await client.chat(asked, IDS);
    const { token_ids: ids, prompt_token_ids: prompt } = first(one);
    expect(first(one).message.content).toBe(answer);
    expect(tokenizer.encode(answer)).not.toEqual(ids.slice(0, -1));
    // The agent trims the answer, and another conversation comes between.
    await client.chat("other");
    const more = [...asked, assistant(answer.trim()), user("and?")];
    const two = await client.chat(more, IDS);
    const follows = tokenizer.encode(`<s>user:and?${end}<s>assistant:`);
    expect(first(two).prompt_token_ids).toEqual([...prompt, ...ids, ...follows]);
    expect(two.conversation).toBe(one.conversation);
    const { calls } = (await client.get(`/v1/conversations/${one.conversation}`)).body;
    expect(calls.map(({ parent }) => parent)).toEqual([null, 0]);
    expect(calls[0]!.completion).toEqual([
      { owner: "policy", ids, logprobs: ids.map((_, i) => -(i + 1) / 8) },
    ]);
    // An answer that the policy has not given begins anew.
    const other = await client.chat([...asked, assistant("no"), user("and?")]);
    expect(other.conversation).not.toBe(one.conversation);
  });

  it("branches where two requests continue one answer", async () => {
    const client = await servePolicy(spelling("yes"));
    const headers = { "x-conversation": "task-1" };
    await client.chat("a", {}, headers);
    const after = [user("a"), assistant("yes")];
    const replies = ["b", "c"].map((next) => client.chat([...after, user(next)], {}, headers));
    for (const { conversation } of await Promise.all(replies)) expect(conversation).toBe("task-1");
    await client.chat("another prompt", {}, headers);
    const { calls } = (await client.get("/v1/conversations/task-1")).body;
    expect(calls.map(({ parent }) => parent)).toEqual([null, 0, 0, null]);
  });

  it("keeps concurrent conversations apart, by header, by user and by their messages", async () => {
    const echo = scriptedPolicy(tokenizer, ({ promptIds }) =>
      tokenizer.decode(promptIds).slice(-1),
    );
    const client = await servePolicy(echo);
    const talk = async (name: string): Promise<string | null> => {
      const headers: Record<string, string> = name === "h" ? { "x-conversation": "mine" } : {};
      const more = name === "u" ? { user: "yours" } : {};
      const { conversation } = await client.chat(name, more, headers);
      const messages = [user(name), assistant(name), user(`then ${name}`)];
      const next = await client.chat(messages, more, headers);
      expect(next.conversation).toBe(conversation);
      return conversation;
    };
    const ids = await Promise.all(["a", "b", "h", "u"].map(talk));
    expect(ids.slice(2)).toEqual(["mine", "yours"]);
    expect(new Set(ids).size).toBe(4);
    expect(client.server.stats().conversations).toBe(4);
  });

  it("continues plain completions by text and by token ids", async () => {
    const client = await servePolicy(spelling(" the capital"));
    const complete = (prompt: unknown) =>
      client.post("/v1/completions", { prompt, logprobs: 1, ...IDS });
    const one = await complete("q:");
    const { token_ids: ids, prompt_token_ids: prompt, text } = first(one);
    expect(text).toBe(" the capital");
    const two = await complete(`q:${text} is`);
    expect(first(two).prompt_token_ids).toEqual([...prompt, ...ids, ...tokenizer.encode(" is")]);
    const three = await complete([...prompt, ...ids, 1, 2]);
    expect(three.conversation).toBe(one.conversation);
    expect(first(three).prompt_token_ids).toEqual([...prompt, ...ids, 1, 2]);
    expect((await complete([9999])).status).toBe(400);
  });

  it("streams what it answers otherwise", async () => {
    const client = await servePolicy(writing("<think> the</think><answer> Oslo</answer>"));
    const request = { messages: [user("where?")], logprobs: true, seed: 3 };
    const whole = await client.post("/v1/chat/completions", request);
    const data = await client.events("/v1/chat/completions", {
      ...request,
      stream_options: { include_usage: true },
    });
    expect(data.at(-1)).toBe("[DONE]");
    const chunks = data.slice(0, -1).map((each) => JSON.parse(each) as Record<string, unknown>);
    const choices = chunks.flatMap(
      (chunk) =>
        chunk.choices as { delta: { content?: string }; finish_reason: string; logprobs: object }[],
    );
    expect(choices.map(({ delta }) => delta.content ?? "").join("")).toBe(
      first(whole).message.content,
    );
    expect(choices.at(-1)?.finish_reason).toBe(first(whole).finish_reason);
    expect(choices[0]?.logprobs).toEqual(first(whole).logprobs);
    expect(chunks.at(-1)?.usage).toEqual(whole.body.usage);
    const plain = await client.events("/v1/completions", { prompt: "where?" });
    expect(plain[0]).toContain("Oslo");
    expect(plain).toHaveLength(2);
  });

  it("ends at a stop string, which the client is not shown but the record keeps", async () => {
    const client = await servePolicy(writing("<search> Norway</search> the capital"));
    const stop = ["</search>"];
    const one = await client.chat("q", { stop, ...IDS });
    expect(first(one)).toMatchObject({
      message: { content: "<search> Norway" },
      finish_reason: "stop",
    });
    expect(tokenizer.decode(first(one).token_ids)).toBe("<search> Norway</search>");
    for (const content of ["<search> Norway", "<search> Norway</search>"]) {
      const next = await client.chat([user("q"), assistant(content), user("r")], IDS);
      expect(next.conversation).toBe(one.conversation);
      expect(tokenizer.decode(first(next).prompt_token_ids)).toBe("q<search> Norway</search>r");
    }
    const shown = await client.chat("s", { stop: "</search>", include_stop_str_in_output: true });
    expect(first(shown).message.content).toBe("<search> Norway</search>");
    const short = await client.chat("t", { max_tokens: 2 });
    expect(first(short).finish_reason).toBe("length");
  });

  it("gives calls of tools in their field, and takes their results", async () => {
    const call = '<tool_call>{"name": "search", "arguments": {"q": "Oslo"}}</tool_call>';
    const client = await servePolicy(writing(`I look. ${call}`), { template: chatml(end) });
    const tools = [{ type: "function", function: { name: "search", parameters: {} } }];
    const one = await client.chat("where?", { tools, ...IDS });
    const { message, finish_reason, prompt_token_ids: prompt, token_ids: ids } = first(one);
    expect(finish_reason).toBe("tool_calls");
    expect(message.content).toBe("I look.");
    expect(message.tool_calls).toMatchObject([
      { type: "function", function: { name: "search", arguments: '{"q":"Oslo"}' } },
    ]);
    expect(tokenizer.decode(prompt)).toContain('"name": "search"');
    const result = { role: "tool", content: "found", tool_call_id: "x" };
    const two = await client.chat([user("where?"), { ...message, role: "assistant" }, result], {
      tools,
      ...IDS,
    });
    expect(first(two).prompt_token_ids.slice(0, prompt.length + ids.length)).toEqual([
      ...prompt,
      ...ids,
    ]);
    expect(two.conversation).toBe(one.conversation);
    const broken = await servePolicy(writing("<tool_call>{nope</tool_call>"), {
      template: chatml(end),
    });
    const seen = first(await broken.chat("where?", { tools }));
    expect(seen).toMatchObject({
      message: { content: "<tool_call>{nope</tool_call>" },
      finish_reason: "stop",
    });
    const untold = await servePolicy(writing("x"));
    expect((await untold.chat("where?", { tools })).body.error.param).toBe("tools");
  });

  it("refuses malformed requests in OpenAI's form", async () => {
    const client = await servePolicy(writing("x", 12));
    const chat = (body: unknown) => client.post("/v1/chat/completions", body);
    const refused: [unknown, string | null][] = [
      ["{nope", null],
      [[], null],
      [{}, "messages"],
      [{ messages: [] }, "messages"],
      [{ messages: [{ role: "robot", content: "x" }] }, "messages.0.role"],
      [{ messages: [user("x")], temperature: 9 }, "temperature"],
      [{ messages: [user("x")], n: 2 }, "n"],
      [{ messages: [user("x")], response_format: { type: "json_object" } }, "response_format"],
      [{ messages: [user("x")], stop: [""] }, "stop.0"],
      [{ messages: [user("")] }, null],
    ];
    for (const [body, param] of refused) {
      const { status, body: answer } = await chat(body);
      expect([status, answer.error.type, answer.error.param], JSON.stringify(body)).toEqual([
        400,
        "invalid_request_error",
        param,
      ]);
    }
    const long = await chat({ messages: [user("a very long text indeed")] });
    expect(long.body.error.code).toBe("context_length_exceeded");
    expect((await client.post("/v1/embeddings", {})).status).toBe(404);
    expect((await client.chat("x".repeat(20_000))).status).toBe(413);
    expect((await client.get("/v1/models")).body).toMatchObject({ data: [{ id: "tiny" }] });
  });

  it("ends a conversation with its reward, once, and records it", async () => {
    const record = join(mkdtempSync(join(tmpdir(), "served-")), "talks.jsonl");
    const client = await servePolicy(writing("x"), { record });
    const { conversation } = await client.chat("q");
    const reward = (body: object) => client.post("/v1/rewards", body);
    expect((await reward({ conversation, reward: 0.5 })).body).toMatchObject({ reward: 0.5, calls: 1 }); // prettier-ignore
    const [line] = readFileSync(record, "utf8").split("\n");
    expect(JSON.parse(line!)).toMatchObject({ conversation, reward: 0.5, calls: [{ parent: null }] }); // prettier-ignore
    const again = await reward({ conversation, reward: 1 });
    expect([again.status, again.body.error.code]).toEqual([404, "conversation_not_found"]);
    expect((await reward({ conversation: "none", reward: 1 })).status).toBe(404);
    expect((await reward({ conversation, reward: "much" })).status).toBe(400);
  });

  it("drops the oldest conversation beyond its limit", async () => {
    const client = await servePolicy(writing("x"), { maxConversations: 2 });
    for (const name of ["a", "b", "c"]) await client.chat("q", {}, { "x-conversation": name });
    expect(client.server.stats()).toEqual({ conversations: 2, rewarded: 0, dropped: 1 });
    expect((await client.post("/v1/rewards", { conversation: "a", reward: 1 })).status).toBe(404);
  });

  it("needs a token beyond this machine, and then its key", async () => {
    await expect(servePolicy(writing("x"), { host: "0.0.0.0" })).rejects.toThrow(
      errorWith("SERVER_UNPROTECTED"),
    );
    const client = await servePolicy(writing("x"), { token: "secret" });
    const refused = await client.chat("q");
    expect([refused.status, refused.body.error.code]).toEqual([401, "invalid_api_key"]);
    expect((await client.chat("q", {}, { authorization: "Bearer secret" })).status).toBe(200);
  });

  it("refuses requests of a hundred thousand messages, parts, tools or ids before it looks at each", async () => {
    const client = await servePolicy(writing("a", 1000), { bodyLimit: 2 ** 24 });
    const many = <T>(item: T): T[] => Array.from({ length: 100_000 }, () => item);
    const tool = { type: "function", function: { name: "a" } };
    const asked = [
      await client.chat(many({ role: "user", content: 1 })),
      await client.chat([{ role: "user", content: many({ type: "text", text: 1 }) }]),
      await client.chat("a", { tools: many({ ...tool, function: {} }) }),
      await client.post("/v1/completions", { prompt: many("7") }),
      await client.post("/v1/completions", { prompt: many(7) }),
    ];
    for (const { status, body } of asked) {
      expect(status).toBe(400);
      expect(body.error.message.length).toBeLessThan(500);
    }
    expect(asked[4]?.body.error.code).toBe("context_length_exceeded");
  });

  it("says that a prompt is too long without counting all of it", async () => {
    const client = await servePolicy(writing("a", 100), { bodyLimit: 2 ** 24 });
    const { status, body } = await client.chat("word ".repeat(200_000));
    expect(status).toBe(400);
    expect(body.error).toMatchObject({ code: "context_length_exceeded", param: "messages" });
    expect(body.error.message).toContain("more than 99 tokens");
  });

  it("holds bodies up to a bound, and frees the place of a client that leaves before it has sent all", async () => {
    const bodyLimit = 16 * 2 ** 20;
    const policy = await servePolicy(writing("a"), { bodyLimit });
    const { server } = policy;
    const port = Number(new URL(server.url).port);
    const slow = Array.from({ length: 4 }, () => connect(port, "127.0.0.1"));
    for (const socket of slow)
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${bodyLimit}\r\n\r\n{`,
      );
    await vi.waitFor(async () => {
      const refused = await policy.chat("a");
      expect([refused.status, refused.body.error.code]).toEqual([429, "rate_limit_exceeded"]);
    });
    for (const socket of slow) socket.destroy();
    await vi.waitFor(async () => {
      expect((await policy.chat("a")).status).toBe(200);
    });
  });

  it("answers 429 beyond its requests at once", async () => {
    let release = (): void => undefined;
    const waits = new Promise<void>((resolve) => (release = resolve));
    const slow = scriptedPolicy(tokenizer, () => "x");
    const client = await servePolicy(
      { ...slow, complete: (request) => waits.then(() => slow.complete(request)) },
      { maxRequests: 1 },
    );
    const one = client.chat("a");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect((await client.chat("b")).status).toBe(429);
    release();
    expect((await one).status).toBe(200);
  });
});

import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { parseOptions } from "../../../src/base/schema.ts";
import { judgeSchema } from "../../../src/evaluate/judge/judge-asker.ts";
import { folderCache, noCache, type ReplyCache } from "../../../src/http/reply-cache.ts";
import { type Judge, openJudge } from "../../../src/evaluate/judge/judge.ts";
import { errorWith } from "../../helpers/error-with.ts";
import {
  byRule,
  type JudgeRequest,
  judgeServer,
  sendReply,
  verdictText,
} from "../../helpers/judge-server.ts";
import { sendJson } from "../../helpers/local-server.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const server = await judgeServer();
const folder = temporaryFolder();
let folders = 0;

const open = (given: object = {}, cache: ReplyCache = noCache): Promise<Judge> =>
  openJudge(
    parseOptions(
      judgeSchema,
      { baseUrl: server.endpoint, model: "rule", apiKeyEnv: null, retryDelayMs: 0, ...given },
      "judge",
    ),
    { cache },
  );
const freshCache = (): { cache: ReplyCache; path: string } => {
  const path = join(folder, `cache-${(folders += 1)}`);
  return { cache: folderCache(path), path };
};
const right = { question: "Who?", references: ["Ada"], prediction: "ada" };
const wrong = { ...right, prediction: "Bob" };
const bodies = (): JudgeRequest[] =>
  server.received.map(({ body }) => JSON.parse(body) as JudgeRequest);

beforeEach(() => {
  server.received.length = 0;
  server.behaviour = byRule;
});

describe("a judge", () => {
  it("says of an answer whether it is right, and why", async () => {
    const judge = await open();
    expect(await judge.judge(right)).toEqual({
      verdict: "correct",
      correct: true,
      reason: "By rule.",
      problem: null,
      reasked: false,
    });
    expect(await judge.judge(wrong)).toMatchObject({ verdict: "incorrect", correct: false });
    // One more to learn the form of replies.
    expect(judge.traffic).toEqual({
      asked: 3,
      cached: 0,
      cost: null,
      reasked: 0,
      promptTokens: 300,
      completionTokens: 30,
    });
  });

  it("asks at temperature 0, with a seed, for one JSON object of a schema", async () => {
    const judge = await open({ seed: 7 });
    await judge.judge(right, { repeat: 2 });
    const [, body] = bodies();
    expect(body).toMatchObject({
      model: "rule",
      temperature: 0,
      seed: 9,
      max_tokens: 512,
      response_format: { type: "json_schema", json_schema: { name: "verdict", strict: true } },
    });
    expect(judge.identity).toEqual({
      prompt: {
        name: "equivalence",
        version: 1,
        hash: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
      },
      model: "rule",
      format: "schema",
      temperature: 0,
      seed: 7,
      maxTokens: 512,
    });
  });

  it("leaves the temperature to a server that refuses one", async () => {
    await open({ temperature: null });
    expect(bodies()[0]).not.toHaveProperty("temperature");
  });

  it.each([
    ["json_schema", ["json_schema"], "object", "json_object"],
    ["any response_format", ["json_schema", "json_object"], "text", undefined],
  ])("takes a looser form where the server refuses %s", async (_, refused, format, sent) => {
    server.behaviour = (shown, request, response, count) => {
      const { type = "" } = request.response_format ?? {};
      if (!refused.includes(type)) return byRule(shown, request, response, count);
      sendJson(response, { error: { message: `${type} is not supported` } }, 400);
      return null;
    };
    const { cache } = freshCache();
    const judge = await open({}, cache);
    expect(judge.identity.format).toBe(format);
    expect((await judge.judge(right)).correct).toBe(true);
    expect(bodies().at(-1)?.response_format?.type).toBe(sent);
    server.received.length = 0;
    const again = await open({}, cache);
    expect(again.identity.format).toBe(format);
    await again.judge(right);
    expect(server.received).toHaveLength(0);
  });

  it("asks once more after a reply that cannot be read, and counts it", async () => {
    const judge = await open();
    server.received.length = 0;
    server.behaviour = (_shown, { messages }) =>
      messages.length === 2 ? "It is correct, I think." : verdictText(false);
    expect(await judge.judge(right)).toMatchObject({ correct: false, reasked: true });
    expect(bodies()[1]?.messages.slice(2)).toEqual([
      { role: "assistant", content: "It is correct, I think." },
      { role: "user", content: expect.stringContaining("one JSON object") as string },
    ]);
    expect(judge.traffic.reasked).toBe(1);
  });

  it.each([
    ["prose around the JSON", `Here you are: ${verdictText(true)} Good luck!`, "not-json"],
    ["empty content", "", "empty"],
    ["a verdict of its own", '{"reason": "r", "verdict": "maybe"}', "no-verdict"],
  ])("does not evaluate what it answers twice with %s", async (_, text, problem) => {
    const judge = await open();
    server.behaviour = () => text;
    expect(await judge.judge(right)).toEqual({
      verdict: null,
      correct: null,
      reason: "",
      problem,
      reasked: true,
    });
  });

  it("says that a reply was cut", async () => {
    const judge = await open();
    server.behaviour = (_shown, _request, response) => {
      sendReply(response, '{"reason": "It', "length");
      return null;
    };
    expect(await judge.judge(right)).toMatchObject({ correct: null, problem: "cut" });
  });

  it("waits where the server asks it to, and tries again after 500", async () => {
    const judge = await open();
    const statuses = [429, 500, 503];
    server.behaviour = (shown, request, response, count) => {
      const status = statuses.shift();
      if (status === undefined) return byRule(shown, request, response, count);
      response.setHeader("retry-after", "0");
      sendJson(response, { error: "busy" }, status);
      return null;
    };
    expect((await judge.judge(right)).correct).toBe(true);
  });

  it.each([
    ["fails", "HTTP_STATUS"],
    ["answers no JSON", "HTTP_BAD_REPLY"],
    ["is silent", "HTTP_TIMEOUT"],
  ] as const)("throws where the server %s: that is no verdict", async (how, code) => {
    const judge = await open({ retries: 1, timeoutMs: how === "is silent" ? 50 : 5000 });
    server.behaviour = (_shown, _request, response) => {
      if (how === "fails") sendJson(response, {}, 500);
      if (how === "answers no JSON") response.end("<html>");
      return null;
    };
    await expect(judge.judge(right)).rejects.toThrow(errorWith(code));
  });

  it("cannot be opened on a server that is not there", async () => {
    const opening = open({ baseUrl: "http://127.0.0.1:1/v1", retries: 0 });
    await expect(opening).rejects.toThrow(errorWith("JUDGE_UNREACHABLE", "127.0.0.1:1"));
  });

  it("cannot be opened on a server that refuses every form, and says why the first time", async () => {
    server.behaviour = (_shown, _request, response, count) => {
      sendJson(response, { error: `no, for the ${count}th time` }, 400);
      return null;
    };
    await expect(open()).rejects.toThrow(errorWith("JUDGE_UNREACHABLE", "no, for the 1th time"));
    expect(server.received).toHaveLength(3);
  });
});

describe("the cache of replies", () => {
  it("answers the same request a second time, also unreadable ones", async () => {
    const { cache } = freshCache();
    server.behaviour = (shown, request, response, count) =>
      shown.answer === "odd" ? "?" : byRule(shown, request, response, count);
    const odd = { ...right, prediction: "odd" };
    const first = await open({}, cache);
    const verdicts = [await first.judge(right), await first.judge(odd)];
    expect(first.traffic).toMatchObject({ asked: 4, cached: 0 });
    server.received.length = 0;
    const second = await open({}, cache);
    expect([await second.judge(right), await second.judge(odd)]).toEqual(verdicts);
    expect(server.received).toHaveLength(0);
    expect(second.traffic).toMatchObject({ asked: 0, cached: 4, promptTokens: 0 });
  });

  it.each([
    ["model", { model: "other" }],
    ["prompt", { prompt: "equivalence-strict" }],
    ["seed", { seed: 1 }],
    ["temperature", { temperature: 1 }],
    ["limit on tokens", { maxTokens: 99 }],
  ])("asks anew for another %s", async (_, given) => {
    const { cache } = freshCache();
    await (await open({}, cache)).judge(right);
    server.received.length = 0;
    await (await open(given, cache)).judge(right);
    expect(server.received).toHaveLength(2);
  });

  it("asks anew for each repeat", async () => {
    const judge = await open({}, freshCache().cache);
    server.received.length = 0;
    for (const repeat of [0, 1, 2, 1]) await judge.judge(right, { repeat });
    expect(server.received).toHaveLength(3);
  });

  it("has one request under way for equal cases", async () => {
    const judge = await open({}, freshCache().cache);
    server.received.length = 0;
    await Promise.all([judge.judge(right), judge.judge(right), judge.judge(wrong)]);
    expect(server.received).toHaveLength(2);
    expect(judge.traffic.cached).toBe(1);
  });

  it("keeps no failure", async () => {
    const judge = await open({ retries: 0 }, freshCache().cache);
    server.behaviour = (_shown, _request, response) => {
      sendJson(response, {}, 500);
      return null;
    };
    await expect(judge.judge(right)).rejects.toThrow(errorWith("HTTP_STATUS"));
    server.behaviour = byRule;
    expect((await judge.judge(right)).correct).toBe(true);
  });
});

import { describe, expect, it } from "vitest";
import { parseOptions } from "../../../src/base/schema.ts";
import { endpointPolicy } from "../../../src/rollout/endpoint/endpoint-policy.ts";
import { endpointSchema } from "../../../src/rollout/model-settings.ts";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import "../../helpers/all-parts.ts";
import { type ChatAnswer, chatServer } from "../../helpers/chat-server.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { passages, rolloutOptions, searchEnvironment, task } from "../../helpers/search-world.ts";

const budgets = [{ scope: "trajectory", unit: "turns", limit: 2, onExhausted: "final-turn" }];
const SMALL: Record<string, object> = {
  "best-of-n": { steps: 1, chains: 2, pick: "votes" },
  "self-consistent-actions": { actions: 2, firstThought: true },
  composerag: { reflections: 0 },
  corag: { steps: 2 },
};

async function run(
  name: string,
  answer: ChatAnswer,
  settings?: object,
  endpoint: object = {},
): Promise<Trajectory> {
  const server = await chatServer(answer);
  const own = { baseUrl: `${server.url}/v1`, model: "m", apiKeyEnv: null, retries: 0 };
  const given = { ...own, ...endpoint };
  const { policy } = endpointPolicy(parseOptions(endpointSchema, given, "test"));
  const environment = searchEnvironment({ budgets });
  try {
    const own = { ...task, annotations: { context: passages } };
    const options = rolloutOptions({ policy, environment, purpose: "eval", task: own });
    return await strategies.get(name, "test").run(options, settings ?? SMALL[name]);
  } finally {
    await server.close();
  }
}

/** An answer in every grammar. */
const ANSWER = "So the answer is: Oslo.\nAction 1: Finish[Oslo]\n<answer>Oslo</answer>";

describe.each(
  strategies.names
    .filter((name) => !["tree-search", "external"].includes(name))
    .map((name) => ({ name })),
)("strategy $name with a chat server", ({ name }) => {
  it("ends with its answer", async () => {
    const trajectory = await run(name, () => ANSWER);
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
  });
});

describe("a chat server, whose messages cannot be begun for it,", () => {
  it("is asked for an answer in words", async () => {
    const { calls, turns } = await run("cot", ({ messages }) =>
      messages.at(-1)?.content?.includes("Answer now") === true ? "<answer>Oslo</answer>" : "Hm.",
    );
    expect(calls).toHaveLength(2);
    expect(turns.at(-1)).toMatchObject({
      text: "<answer>Oslo</answer>",
      actions: [{ tool: "answer", input: "Oslo" }],
    });
  });

  it("reads a hint as a reply to its answer", async () => {
    const asked: string[][] = [];
    const trajectory = await run("hint-infer", ({ messages }) => {
      asked.push(messages.map(({ content }) => content ?? ""));
      return messages.length === 1 ? "<answer>Lima</answer>" : "<answer>Oslo</answer>";
    });
    expect(trajectory.answer).toBe("Oslo");
    expect(asked[1]?.slice(1)).toEqual([
      "<answer>Lima</answer>",
      "Wait: I could search for that to make sure, before I answer.",
    ]);
    expect(trajectory.turns.map(({ chain }) => chain)).toEqual(["draft-1", undefined]);
  });

  it("keeps the answer where its context has no room for a hint", async () => {
    const trajectory = await run("hint-infer", ({ messages }, response) => {
      if (messages.length === 1) return "<answer>Lima</answer>";
      const error = { message: "too long", code: "context_length_exceeded" };
      response.writeHead(400, { "content-type": "application/json" });
      response.end(JSON.stringify({ error }));
      return null;
    });
    expect(trajectory).toMatchObject({ end: "answered", answer: "Lima" });
    expect(trajectory.turns.map(({ chain }) => chain)).toEqual([undefined]);
  });

  it("is refused by strategies that weigh texts by likelihood, unless they can do without", async () => {
    const error = errorWith("STRATEGY_NEEDS_LOGPROBS");
    await expect(run("tree-search", () => ANSWER)).rejects.toThrow(error);
    await expect(run("best-of-n", () => ANSWER, {})).rejects.toThrow(error);
  });
});

describe("hints with a chat server", () => {
  it("ask in words for what a message is to begin with", async () => {
    const prompts: string[] = [];
    const hints = [{ name: "opening", text: "<think> I look it up" }];
    const trajectory = await run(
      "hint-infer",
      ({ messages }) => {
        prompts.push(messages.at(-1)?.content ?? "");
        return "<answer>Oslo</answer>";
      },
      { hints },
    );
    expect(prompts[0]).toContain("<think> I look it up");
    expect(trajectory.hints).toMatchObject([{ name: "opening", call: 0 }]);
    const owners = trajectory.calls[0]?.prompt.map(({ owner }) => owner);
    expect(owners).toEqual(["template", "inserted"]);
  });

  it("stand before a search that they hold up: it is not run", async () => {
    const hints = [{ name: "after-connective", connectives: ["Wait"], text: " Think again." }];
    const asked: string[] = [];
    const trajectory = await run(
      "hint-infer",
      ({ messages }) => {
        asked.push(messages.at(-1)?.content ?? "");
        return messages.length === 1
          ? "<think>Wait</think><search>Peru</search>"
          : "<answer>Oslo</answer>";
      },
      { hints },
    );
    expect(asked[1]).toBe("Think again.");
    expect(trajectory.turns[0]).toMatchObject({ chain: "draft-1" });
    expect(trajectory).toMatchObject({ answer: "Oslo", hints: [{ name: "after-connective" }] });
  });
});

describe("hints with a server that continues texts", () => {
  it("are put into the message, and what was written before them stays the policy's", async () => {
    const prompts: string[] = [];
    const trajectory = await run(
      "hint-infer",
      ({ prompt = "" }) => {
        prompts.push(prompt);
        return [
          "<think> Lima, surely</think><answer>Lima</answer>",
          "</think><answer>Oslo</answer>",
        ][prompts.length - 1]!;
      },
      { hints: [{ name: "before-answer", text: " Wait." }] },
      { api: "completions" },
    );
    expect(prompts[1]?.startsWith(prompts[0] ?? "?")).toBe(true);
    expect(prompts[1]?.endsWith("<think> Lima, surely Wait.")).toBe(true);
    expect(trajectory.calls).toHaveLength(1);
    expect(trajectory.calls[0]?.completion).toMatchObject([
      { owner: "policy", text: "<think> Lima, surely" },
      { owner: "inserted", text: " Wait." },
      { owner: "policy", text: "</think><answer>Oslo</answer>" },
    ]);
    expect(trajectory).toMatchObject({
      answer: "Oslo",
      hints: [{ name: "before-answer", call: 0 }],
    });
  });
});

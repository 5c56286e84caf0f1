import { beforeAll, describe, expect, it } from "vitest";
import { addPart } from "../../../src/base/registry.ts";
import { z } from "../../../src/base/schema.ts";
import { budgetsSchema } from "../../../src/env/budget.ts";
import { type ToolSession, defineTool } from "../../../src/env/tools/tool.ts";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import { rollOutTree } from "../../../src/rollout/tree.ts";
import { searchQueries } from "../../../src/trajectory/trajectory.ts";
import { environments } from "../../../src/worlds/datasets.ts";
import "../../helpers/all-parts.ts";
import { corpus, replay, rolloutOptions } from "../../helpers/search-world.ts";

/** Number of each session that was opened or forked and, when it was closed, how often. */
const closed: number[] = [];

function session(): ToolSession<{ query: string }> {
  const own = closed.push(0) - 1;
  return {
    async call({ query }, at) {
      const { signal } = at;
      if (query === "fail") throw new Error("the disk is full");
      if (query === "wait")
        await new Promise((_, reject) => {
          signal.addEventListener("abort", () => {
            reject(new Error("aborted"));
          });
        });
      const { text } = await at.callTool(query === "self" ? "look-up" : "search", query);
      return { text: `looked up: ${text}` };
    },
    fork: session,
    close() {
      closed[own] = (closed[own] ?? 0) + 1;
    },
  };
}

beforeAll(() => {
  const described = { description: "Looks something up.", parameters: z.object({ query: z.string() }) }; // prettier-ignore
  const part = defineTool({
    name: "look-up",
    summary: "Looks something up.",
    ...described,
    options: z.strictObject({}),
    create: () => ({ open: session }),
  });
  addPart({ ...part, part: "tool" });
});

const look = (query: string): string => `<look-up>${query}</look-up>`;
const ANSWER = "<answer>Oslo</answer>";

function play(messages: readonly string[], changes: Parameters<typeof optionsOf>[1] = {}) {
  return rollOut(optionsOf(messages, changes));
}

function optionsOf(
  messages: readonly string[],
  { budgets = [], ...changes }: { budgets?: unknown[]; signal?: AbortSignal } = {},
) {
  const resources = { retriever: corpus, budgets: budgetsSchema.parse(budgets) };
  const tools = ["look-up", { name: "corpus-search", topK: 1 }];
  const environment = environments
    .get("tool-qa", "test")
    .create({ protocol: "tags", tools }, resources);
  closed.length = 0;
  return rolloutOptions({ policy: replay(messages), environment, ...changes });
}

describe("close of a tool's session", () => {
  it("is called once at the end of the trajectory", async () => {
    expect(await play([look("Norway"), ANSWER])).toMatchObject({ end: "answered" });
    expect(closed).toEqual([1]);
  });

  it("is called once where a tool fails", async () => {
    expect(await play([look("fail"), ANSWER])).toMatchObject({ end: "tool-error" });
    expect(closed).toEqual([1]);
  });

  it("is called once where the run is aborted", async () => {
    const halt = new AbortController();
    const playing = play([look("wait"), ANSWER], { signal: halt.signal });
    setTimeout(() => {
      halt.abort(new Error("stopped"));
    }, 20);
    await expect(playing).rejects.toThrow("stopped");
    expect(closed).toEqual([1]);
  });

  it("is called once for each fork, of a tree and of candidates that were dropped", async () => {
    const leaves = await rollOutTree(optionsOf([look("Norway"), ANSWER]), { width: 2, depth: 2 });
    expect(leaves.map(({ end }) => end)).toEqual(Array.from({ length: 4 }, () => "answered"));
    expect(closed).toEqual(Array.from({ length: 7 }, () => 1));
    const strategy = strategies.get("self-consistent-actions", "test");
    const messages = Array.from({ length: 3 }, () => look("Norway"));
    await strategy.run(optionsOf([...messages, ANSWER, ANSWER, ANSWER]), { actions: 3 });
    expect(closed.length).toBeGreaterThan(3);
    expect(new Set(closed)).toEqual(new Set([1]));
  });
});

describe("a tool that calls another", () => {
  it("gets its observation, which is recorded and counted as a search", async () => {
    const trajectory = await play([look("capital Norway"), ANSWER]);
    expect(trajectory.turns[0]?.observations).toMatchObject([
      {
        tool: "look-up",
        text: expect.stringContaining("looked up:") as string,
        calls: [{ tool: "search", input: "capital Norway", passageIds: ["oslo"] }],
      },
    ]);
    expect(searchQueries(trajectory)).toEqual(["capital Norway"]);
  });

  it("spends the budgets of calls, and cannot call itself", async () => {
    const budgets = [
      { scope: "trajectory", unit: "calls", tool: "search", limit: 1, onExhausted: "end" },
    ];
    const ended = await play([look("Norway"), look("Peru"), ANSWER], { budgets });
    expect(ended).toMatchObject({ end: "budget-limit", turns: [{}] });
    const { turns } = await play([look("self"), ANSWER]);
    const [inner] = turns[0]?.observations[0]?.calls ?? [];
    expect(inner?.problem?.code).toBe("call-in-circle");
  });
});

import { describe, expect, it } from "vitest";
import { agentRunner } from "../../src/rollout/agents.ts";
import { emptyTrajectory } from "../../src/rollout/record.ts";
import { policyRows } from "../../src/algorithms/training-rows.ts";
import type { Role } from "../../src/trajectory/role.ts";
import { errorWith } from "../helpers/error-with.ts";
import { replay, rolloutOptions, searchEnvironment } from "../helpers/search-world.ts";

/** A model that writes these texts in turn, without the stop string, as servers do. */
function reader(...texts: string[]): Role & { prompts: string[] } {
  const prompts: string[] = [];
  return {
    name: "reader",
    prompts,
    logprobs: () => Promise.resolve(null),
    complete: (prompt) => {
      prompts.push(prompt);
      return Promise.resolve(texts[prompts.length - 1] ?? "");
    },
  };
}

describe("an agent of a tool", () => {
  it("writes, reads what its tools give, and answers; its calls are recorded under its role", async () => {
    const options = rolloutOptions({ policy: replay([]) });
    const trajectory = emptyTrajectory(options);
    const role = reader("<search> capital", "<answer> Oslo</answer>");
    const asked: string[] = [];
    const result = await agentRunner(options, trajectory)(
      role,
      { role: "reader", prompt: "Find it.", maxTurns: 3, maxTokens: 20, tools: ["search"] },
      (tool, input) => {
        asked.push(`${tool}: ${input}`);
        return Promise.resolve({ tool, text: "Oslo is the capital." });
      },
    );
    expect(result).toEqual({ text: "<answer> Oslo</answer>", answer: "Oslo", turns: 2 });
    expect(asked).toEqual(["search: capital"]);
    expect(role.prompts[1]).toBe(
      "Find it.<search> capital</search>\n\n<information>Oslo is the capital.</information>\n\n",
    );
    expect(trajectory.calls.map(({ role: of, parent }) => [of, parent])).toEqual([
      ["reader", null],
      ["reader", 0],
    ]);
    expect(policyRows(trajectory, { role: "policy" }).every((row) => row.trainedTokens === 0)).toBe(
      true,
    );
  });

  it("ends at its last turn, and after one message where it has no tools", async () => {
    const options = rolloutOptions({ policy: replay([]) });
    const none = () => Promise.reject(new Error("no tool is called"));
    const run = agentRunner(options, emptyTrajectory(options));
    const request = { role: "reader", prompt: "Sum it up.", maxTokens: 20 };
    expect(await run(reader("It is Oslo."), { ...request, maxTurns: 4 }, none)).toEqual({
      text: "It is Oslo.",
      answer: null,
      turns: 1,
    });
  });
});

describe("tools of a recipe", () => {
  it("are called by the name that the recipe gives them; two of one name are refused", () => {
    const twice = [{ name: "corpus-search" }, { name: "corpus-search" }];
    expect(() => searchEnvironment({ tools: twice })).toThrow(
      errorWith("TOOL_TWICE", "with as, for example"),
    );
    const named = [{ name: "corpus-search" }, { name: "corpus-search", as: "news-search" }];
    const { toolSchemas } = searchEnvironment({ tools: named, protocol: "tags" });
    expect(toolSchemas.map((tool) => tool.function.name)).toEqual(["search", "news-search"]);
    expect(toolSchemas[0]?.function.parameters).toEqual({
      type: "object",
      properties: { query: { type: "string" } },
      required: ["query"],
    });
  });
});

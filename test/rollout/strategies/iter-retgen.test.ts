import { describe, expect, it } from "vitest";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import { promptedPolicy } from "../../helpers/prompted-policy.ts";
import { readable, rolloutOptions } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

describe("iter-retgen", () => {
  const run = (first: string, settings = {}) => {
    const policy = promptedPolicy([[/<answer>$/, first, "Oslo</answer>"]]);
    return strategies.get("iter-retgen", "test").run(rolloutOptions({ policy }), settings);
  };

  it("searches with the question, then with the question and the answer to it", async () => {
    const trajectory = await run("Bergen</answer>");
    expect(trajectory.given?.map(({ tool }) => tool)).toEqual(["search"]);
    expect(trajectory.turns.flatMap(({ actions }) => actions.map(({ input }) => input))).toEqual([
      "Bergen",
      "What is the capital of Norway? Bergen",
      "Oslo",
    ]);
    expect(trajectory.answer).toBe("Oslo");
    expect(readable(trajectory)).toContain("rain");
  });

  it("searches with the question again after no answer, as often as it is told", async () => {
    const trajectory = await run("", { iterations: 3 });
    const searched = trajectory.turns.flatMap(({ actions }) =>
      actions.filter(({ tool }) => tool === "search").map(({ input }) => input),
    );
    expect(searched).toEqual([
      "What is the capital of Norway?",
      "What is the capital of Norway? Oslo",
    ]);
  });
});

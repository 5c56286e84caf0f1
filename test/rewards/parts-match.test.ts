import { describe, expect, it } from "vitest";
import { partsMatch } from "../../src/rewards/parts-match.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const composed = { ...task, annotations: { parts: [["Oslo", "Christiania"], ["1814"]] } };
const score = async (answer: string | null, options = {}, asked = composed) =>
  (await scoreWith(partsMatch, [{ trajectory: answered(answer), task: asked }], options))[0];

describe("parts-match", () => {
  it("is the share of parts that are right, in order", async () => {
    expect(await score("Oslo; 1814")).toBe(1);
    expect(await score("the Christiania ;1815")).toBe(0.5);
    expect(await score("1814; Oslo")).toBe(0);
    expect(await score("Oslo")).toBe(0.5);
    expect(await score("Oslo and 1814", { separator: " and " })).toBe(1);
  });

  it("is 0 without an answer, and nothing for a question without parts", async () => {
    expect(await score(null)).toBe(0);
    expect(await score("Oslo", {}, { ...task, annotations: { parts: [] } })).toBeNull();
  });
});

import { describe, expect, it } from "vitest";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { format } from "../../../src/synth/steps/protocol-gates.ts";
import { applyStep, candidate } from "../../helpers/drawn-candidates.ts";
import { replay, rolloutOptions, searchEnvironment } from "../../helpers/search-world.ts";

/** Why an episode of these messages is dropped under a protocol; null where it stays. */
async function reasonFor(messages: string[], protocol: unknown): Promise<string | null> {
  const environment = searchEnvironment({ protocol });
  const trajectory = await rollOut(rolloutOptions({ policy: replay(messages), environment }));
  const drawn = [candidate("one", { trajectory })];
  const { dropped } = await applyStep(format, drawn, {}, { environment });
  return dropped[0]?.reason ?? null;
}

describe("format", () => {
  const boxes = {
    ...{ name: "tags", boxed: "alone" },
    callTags: { search: { opening: "```search\n", closing: "\n```" } },
  };

  it.each([
    ["text behind a box", "It is \\boxed{Oslo}."],
    ["braces within a box and outside", "\\frac{1}{2} of {it}: \\boxed{\\text{Os}\\text{lo}}"],
    ["several boxes, of which the last counts", "\\boxed{Bergen}? No: \\boxed{Oslo}"],
  ])("keeps %s where the grammar lets a message go on", async (_, message) => {
    expect(await reasonFor([message], boxes)).toBeNull();
  });

  it("keeps a box before a call, and braces and boxes within one", async () => {
    const call = "Perhaps \\boxed{Rome}.\n```search\n{Oslo} \\boxed{\n```";
    expect(await reasonFor([call, "\\boxed{Oslo}"], boxes)).toBeNull();
  });

  it("drops a box that is never closed", async () => {
    const messages = ["\\boxed{Oslo", "\\boxed{Oslo}"];
    expect(await reasonFor(messages, boxes)).toBe("unpaired tag");
  });
});

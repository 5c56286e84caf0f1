import { describe, expect, it } from "vitest";
import { tokenF1 } from "../../src/rewards/token-f1.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const score = (answer: string | null, references = task.references) =>
  scoreWith(tokenF1, [{ trajectory: answered(answer), task: { ...task, references } }]);

describe("token-f1", () => {
  it("gives the harmonic mean of precision and recall with the best reference", async () => {
    // Precision 1/2, recall 1.
    expect((await score("Oslo Norway"))[0]).toBeCloseTo(2 / 3, 12);
    expect(await score("city of Oslo", ["Bergen", "Oslo city of"])).toEqual([1]);
    expect(await score("Bergen")).toEqual([0]);
  });

  it("gives 0 for no answer: that is wrong, not unscorable", async () => {
    expect(await score(null)).toEqual([0]);
  });
});

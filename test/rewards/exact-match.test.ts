import { describe, expect, it } from "vitest";
import { exactMatch } from "../../src/rewards/exact-match.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const score = (answer: string | null, references = task.references) =>
  scoreWith(exactMatch, [{ trajectory: answered(answer), task: { ...task, references } }]);

describe("exact-match", () => {
  it("gives 1 for any reference after normalisation, else 0", async () => {
    expect(await score("the OSLO!")).toEqual([1]);
    expect(await score("Bergen", ["Oslo", "bergen"])).toEqual([1]);
    expect(await score("Oslo, Norway")).toEqual([0]);
  });

  it("gives 0 for no answer: that is wrong, not unscorable", async () => {
    expect(await score(null)).toEqual([0]);
  });
});

import { describe, expect, it } from "vitest";
import { coverEm } from "../../src/rewards/cover-em.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const score = (answer: string | null, references = task.references) =>
  scoreWith(coverEm, [{ trajectory: answered(answer), task: { ...task, references } }]);

describe("cover-em", () => {
  it("gives 1 for an answer that contains any reference after normalisation, else 0", async () => {
    expect(await score("It is the OSLO, Norway!")).toEqual([1]);
    expect(await score("Bergen or Lima", ["Oslo", "bergen"])).toEqual([1]);
    expect(await score("Bergen")).toEqual([0]);
  });

  it("gives 0 for no answer: that is wrong, not unscorable", async () => {
    expect(await score(null)).toEqual([0]);
  });
});

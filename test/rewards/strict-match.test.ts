import { expect, it } from "vitest";
import { strictMatch } from "../../src/rewards/strict-match.ts";
import { scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const score = (answer: string | null, references: string[]) =>
  scoreWith(strictMatch, [{ trajectory: answered(answer), task: { ...task, references } }]);

it("accepts the first reference's spelling alone", async () => {
  const references = ["1200", "1,200"];
  expect(await score(" 1200\n", references)).toEqual([1]);
  for (const other of ["1,200", "1200.", "The answer is 1200.", "1200.0", "1200 or 1201", null])
    expect(await score(other, references), `${other}`).toEqual([0]);
  expect(await score("", [])).toEqual([0]);
});

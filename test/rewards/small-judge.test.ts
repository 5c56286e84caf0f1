import { expect, it } from "vitest";
import type { Scored } from "../../src/rewards/reward.ts";
import { smallJudge } from "../../src/rewards/small-judge.ts";
import type { Role } from "../../src/trajectory/role.ts";
import { rewardContext, scoreWith } from "../helpers/reward-context.ts";
import { answered, task } from "../helpers/search-world.ts";

const of = (answer: string | null): Scored => ({ task, trajectory: answered(answer) });

it("pays for the verdict yes, asks about equal answers once, and about an empty one never", async () => {
  const asked: string[] = [];
  const role: Role = {
    name: "checker",
    complete(prompt, { stop }) {
      asked.push(prompt);
      expect(stop).toEqual(["</answer>"]);
      const answer = prompt.replace(/^[^]*Answer: /, "").split("\n")[0]!;
      return Promise.resolve({ Oslo: "yes", Lima: " no" }[answer] ?? "maybe");
    },
    logprobs: () => Promise.resolve(null),
  };
  const context = rewardContext({ roles: { names: ["checker"], get: () => role } });
  const rows = [of("Oslo"), of("Lima"), of("Rome"), of(null), of(" ."), of("Lima")];
  const values = await scoreWith(smallJudge, rows, { role: "checker" }, context);
  expect(values).toEqual([1, 0, null, 0, 0, 0]);
  expect(asked).toHaveLength(3);
  expect(asked[0]).toBe(
    `Question: Is it true? Right: ${task.references.join(" or ")} Answer: Oslo\n<answer>`,
  );
});

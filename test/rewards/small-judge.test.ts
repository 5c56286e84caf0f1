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

it("compares two plain numbers where it is told to, and asks about everything else", async () => {
  const asked: string[] = [];
  const role: Role = {
    name: "checker",
    complete(prompt) {
      asked.push(/Answer: (.*)\n/.exec(prompt)?.[1] ?? "");
      return Promise.resolve("yes");
    },
    logprobs: () => Promise.resolve(null),
  };
  const context = rewardContext({ roles: { names: ["checker"], get: () => role } });
  const numbered = { ...task, references: ["1200", "1,200"] };
  const rows = ["1200", "1200.0", "1201", "1200.", "1,200", "1199 or 1200"].map((answer) => {
    return { task: numbered, trajectory: answered(answer) };
  });
  const options = { role: "checker", numbers: "compare" };
  expect(await scoreWith(smallJudge, rows, options, context)).toEqual([1, 1, 0, 1, 1, 1]);
  expect(asked).toEqual(["1200.", "1,200", "1199 or 1200"]);
});

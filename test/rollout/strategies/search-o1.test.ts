import { describe, expect, it } from "vitest";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { promptedPolicy } from "../../helpers/prompted-policy.ts";
import { readable, rolloutOptions, searchEnvironment } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

type Messages = Parameters<typeof promptedPolicy>[0];

const budgets = [{ scope: "trajectory", unit: "turns", limit: 2, onExhausted: "final-turn" }];
const environment = searchEnvironment({ budgets });
const run = (messages: Messages): Promise<Trajectory> =>
  strategies
    .get("search-o1", "test")
    .run(rolloutOptions({ policy: promptedPolicy(messages), environment, purpose: "eval" }));

describe("search-o1", () => {
  const script: Messages = [
    [/Final Information:$/, " **Final Information**\nOslo is a capital."],
    [/Norway\?\n$/, "<search>capital Norway</search>"],
    [/<\/information>\n\n$/, "<answer>Oslo</answer>"],
  ];

  it("shows the agent what the policy condensed, and keeps what was found on record", async () => {
    const trajectory = await run(script);
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, stop
        template: "Question: What is the capital of Norway?\\n"
        policy: "<search>capital Norway</search>"
      call 1 after nothing, eos
        template: "Someone reasons about a question and has searched for something. Read what was found and write down what of it helps their next step, given their reasoning so far: facts only, without an answer to the whole question.\\nIf nothing helps, write: No helpful information found.\\nReasoning so far: <search>capital Norway</search>\\nQuery: capital Norway\\nFound: Doc 1(Title: Oslo) Oslo is the capital of Norway.\\nFinal Information:"
        policy: " **Final Information**\\nOslo is a capital.<|end|>"
      call 2 after 0, eos
        environment: "\\n\\n<information>Oslo is a capital.</information>\\n\\n"
        policy: "<answer>Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
    expect(trajectory.turns.map(({ chain }) => chain)).toEqual([undefined, "documents", undefined]);
    expect(trajectory.turns[0]!.observations).toMatchObject([
      { text: "Doc 1(Title: Oslo) Oslo is the capital of Norway.\n", passageIds: ["oslo"] },
    ]);
  });

  it("takes no answer from what was condensed", async () => {
    const trajectory = await run([
      [/Final Information:$/, "<answer>Lima</answer>"],
      [/Norway\?\n$/, "<search>capital Norway</search>"],
    ]);
    expect(trajectory.answer).toBeNull();
  });

  it("says that nothing helped where nothing was written", async () => {
    const trajectory = await run([[/Final Information:$/, ""], ...script.slice(1)]);
    expect(readable(trajectory)).toContain(
      "<information>No helpful information found.</information>",
    );
  });
});

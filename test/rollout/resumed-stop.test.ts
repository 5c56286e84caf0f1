import { expect, it } from "vitest";
import { scriptedPolicy } from "../../src/rollout/policy.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { rolloutOptions, searchEnvironment, tokenizer } from "../helpers/search-world.ts";

const environment = searchEnvironment({
  protocol: {
    name: "tags",
    callTags: { search: { opening: "```find\n", closing: "\n```" } },
    resultTag: { opening: "```found\n", closing: "\n```\n" },
  },
});

const OTHER = "A list ```text\n1\n```";
const CALL = " so ```find\ncapital Norway\n```";

/** Writes the messages one after the other, and notes how many tokens each call of the engine may have. */
function writer(messages: readonly string[]) {
  const asked: number[] = [];
  const policy = scriptedPolicy(tokenizer, ({ maxTokens, turns }) => {
    asked.push(maxTokens);
    return messages[turns.length] ?? "";
  });
  return { policy, asked };
}

it("goes on behind a stop string where the message has not ended, within the turn's tokens", async () => {
  const { policy, asked } = writer([OTHER + CALL, "<answer> Oslo</answer>"]);
  const trajectory = await rollOut(rolloutOptions({ policy, environment }));
  const [turn] = trajectory.turns;
  expect(turn?.text).toBe(OTHER + CALL);
  expect(turn?.actions).toEqual([{ tool: "search", input: "capital Norway" }]);
  expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
  const ids = [...tokenizer.encode(OTHER), ...tokenizer.encode(CALL)];
  expect(trajectory.calls[0]).toMatchObject({
    completion: [{ owner: "policy", ids, logprobs: ids.map(() => 0) }],
    finish: "stop",
  });
  expect(asked.slice(0, 2)).toEqual([500, 500 - tokenizer.encode(OTHER).length]);
});

it("ends a message whose tokens are used up behind a stop string that ends nothing", async () => {
  const limit = tokenizer.encode(OTHER).length;
  const budgets = [{ scope: "turn", unit: "tokens", limit, onExhausted: "cut" }];
  const { policy, asked } = writer([`${OTHER} and more`, "<answer> Oslo</answer>"]);
  const cut = searchEnvironment({
    budgets,
    protocol: {
      name: "tags",
      callTags: { search: { opening: "```find\n", closing: "\n```" } },
      resultTag: "found",
    },
  });
  const trajectory = await rollOut(rolloutOptions({ policy, environment: cut }));
  expect(trajectory.turns[0]).toMatchObject({ text: OTHER, actions: [] });
  expect(trajectory.calls[0]?.finish).toBe("length");
  expect(asked[0]).toBe(limit);
});

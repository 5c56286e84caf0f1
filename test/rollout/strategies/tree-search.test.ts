import { describe, expect, it } from "vitest";
import type { TokenPolicy } from "../../../src/rollout/policy.ts";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { promptedPolicy } from "../../helpers/prompted-policy.ts";
import { readable, rolloutOptions, tokenizer } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

type Messages = Parameters<typeof promptedPolicy>[0];

const run = (policy: TokenPolicy, settings: object): Promise<Trajectory> =>
  strategies.get("tree-search", "test").run(rolloutOptions({ policy, purpose: "eval" }), settings);

/** Holds nothing relevant less likely the more often a word stands in the prompt. */
const liking = (word: string, messages: Messages): TokenPolicy => ({
  ...promptedPolicy(messages),
  logprobs: (promptIds, ids) => {
    const times = tokenizer.decode([...promptIds]).split(word).length - 1;
    return Promise.resolve(ids.map(() => -1 - times));
  },
});

const script: Messages = [
  [/Query 1:$/, "rain", "Rain", "capital of Norway"],
  [/Query 2:$/, "capital of Peru"],
  [/rain\nAnswer:$/, "Bergen"],
  [/Norway\nAnswer:$/, "Oslo"],
  [/Peru\nAnswer:$/, "Lima"],
  [/<answer>$/, "Oslo</answer>"],
];

describe("tree-search", () => {
  it("grows the chain whose continuations do best", async () => {
    const settings = { steps: 2, expand: 2, rollouts: 1, lookahead: 1 };
    const trajectory = await run(liking("Oslo", script), settings);
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, eos
        template: "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.\\nQuestion: What is the capital of Norway?\\nWrite the next question to look up, alone and unlike those before.\\nQuery 1:"
        policy: "rain<|end|>"
      call 1 after nothing, eos
        template: "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.\\nQuestion: What is the capital of Norway?\\nWrite the next question to look up, alone and unlike those before.\\nQuery 1:"
        policy: "Rain<|end|>"
      call 2 after nothing, eos
        template: "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.\\nQuestion: What is the capital of Norway?\\nWrite the next question to look up, alone and unlike those before.\\nQuery 1:"
        policy: "capital of Norway<|end|>"
      call 3 after nothing, eos
        template: "Passages:\\n(Title: Bergen) Bergen is a city in Norway with much rain.\\nAnswer the query from the passages, in a few words. If they do not tell, write: No relevant information found\\nQuery: rain\\nAnswer:"
        policy: "Bergen<|end|>"
      call 4 after nothing, eos
        template: "Passages:\\n(Title: Oslo) Oslo is the capital of Norway.\\nAnswer the query from the passages, in a few words. If they do not tell, write: No relevant information found\\nQuery: capital of Norway\\nAnswer:"
        policy: "Oslo<|end|>"
      call 5 after nothing, eos
        template: "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.\\nQuestion: What is the capital of Norway?\\nQuery 1: rain\\nAnswer 1: Bergen\\nWrite the next question to look up, alone and unlike those before.\\nQuery 2:"
        policy: "capital of Peru<|end|>"
      call 6 after nothing, eos
        template: "Passages:\\n(Title: Lima) Lima is the capital of Peru.\\nAnswer the query from the passages, in a few words. If they do not tell, write: No relevant information found\\nQuery: capital of Peru\\nAnswer:"
        policy: "Lima<|end|>"
      call 7 after nothing, stop
        template: "Answer the question from what was looked up, as short as possible.\\nQuery 1: rain\\nAnswer 1: Bergen\\nQuery 2: capital of Peru\\nAnswer 2: Lima\\nQuestion: What is the capital of Norway?\\n"
        inserted: "No relevant information found"
      call 8 after nothing, eos
        template: "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.\\nQuestion: What is the capital of Norway?\\nQuery 1: capital of Norway\\nAnswer 1: Oslo\\nWrite the next question to look up, alone and unlike those before.\\nQuery 2:"
        policy: "capital of Peru<|end|>"
      call 9 after nothing, eos
        template: "Passages:\\n(Title: Lima) Lima is the capital of Peru.\\nAnswer the query from the passages, in a few words. If they do not tell, write: No relevant information found\\nQuery: capital of Peru\\nAnswer:"
        policy: "Lima<|end|>"
      call 10 after nothing, stop
        template: "Answer the question from what was looked up, as short as possible.\\nQuery 1: capital of Norway\\nAnswer 1: Oslo\\nQuery 2: capital of Peru\\nAnswer 2: Lima\\nQuestion: What is the capital of Norway?\\n"
        inserted: "No relevant information found"
      call 11 after nothing, eos
        template: "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.\\nQuestion: What is the capital of Norway?\\nQuery 1: capital of Norway\\nAnswer 1: Oslo\\nWrite the next question to look up, alone and unlike those before.\\nQuery 2:"
        policy: "capital of Peru<|end|>"
      call 12 after nothing, eos
        template: "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.\\nQuestion: What is the capital of Norway?\\nQuery 1: capital of Norway\\nAnswer 1: Oslo\\nWrite the next question to look up, alone and unlike those before.\\nQuery 2:"
        policy: "capital of Peru<|end|>"
      call 13 after nothing, eos
        template: "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.\\nQuestion: What is the capital of Norway?\\nQuery 1: capital of Norway\\nAnswer 1: Oslo\\nWrite the next question to look up, alone and unlike those before.\\nQuery 2:"
        policy: "capital of Peru<|end|>"
      call 14 after nothing, eos
        template: "Passages:\\n(Title: Lima) Lima is the capital of Peru.\\nAnswer the query from the passages, in a few words. If they do not tell, write: No relevant information found\\nQuery: capital of Peru\\nAnswer:"
        policy: "Lima<|end|>"
      call 15 after nothing, eos
        template: "Passages:\\n(Title: Oslo) Oslo is the capital of Norway.\\nAnswer the question from what was looked up, as short as possible.\\nQuery 1: capital of Norway\\nAnswer 1: Oslo\\nQuery 2: capital of Peru\\nAnswer 2: Lima\\nQuestion: What is the capital of Norway?\\n"
        inserted: "<answer>"
        policy: "Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
    expect([...new Set(trajectory.turns.map(({ chain }) => chain))]).toMatchInlineSnapshot(`
      [
        "step-1/chain-1",
        "step-1/state-1.1",
        "step-1/state-2.1",
        "step-2/chain-1",
        undefined,
      ]
    `);
  });

  it("keeps several chains where its beam is wide", async () => {
    const settings = { steps: 2, expand: 2, beam: 2, rollouts: 1, lookahead: 0 };
    const { turns } = await run(liking("Oslo", script), settings);
    const chains = new Set(turns.map(({ chain }) => chain));
    expect(chains).toContain("step-2/chain-1");
    expect(chains).toContain("step-2/chain-2");
  });

  it("refuses a policy that cannot tell likelihoods", async () => {
    await expect(run(promptedPolicy(script), {})).rejects.toThrow(
      errorWith("STRATEGY_NEEDS_LOGPROBS"),
    );
  });
});

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
  strategies.get("best-of-n", "test").run(rolloutOptions({ policy, purpose: "eval" }), settings);

/** Holds nothing relevant less likely the more often a word stands in the prompt. */
const liking = (word: string, messages: Messages): TokenPolicy => ({
  ...promptedPolicy(messages),
  logprobs: (promptIds, ids) => {
    const times = tokenizer.decode([...promptIds]).split(word).length - 1;
    return Promise.resolve(ids.map(() => -1 - times));
  },
});

/** Chains that ask for other things one after another. */
const script: Messages = [
  [/Query 1:$/, "rain", "capital of Norway", "capital of Peru"],
  [/rain\nAnswer:$/, "Bergen"],
  [/Norway\nAnswer:$/, "Oslo"],
  [/Peru\nAnswer:$/, "Lima"],
  [/Answer 1: Oslo\nQuestion: .*<answer>$/s, "Oslo</answer>"],
  [/Answer 1: Lima\nQuestion: .*<answer>$/s, "oslo</answer>"],
  [/Answer 1: Bergen\nQuestion: .*<answer>$/s, "Bergen</answer>"],
];

describe("best-of-n", () => {
  it("answers from the chain after which nothing relevant is least likely", async () => {
    const trajectory = await run(liking("Oslo", script), { steps: 1, chains: 3 });
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, eos
        template: "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.\\nQuestion: What is the capital of Norway?\\nWrite the next question to look up, alone and unlike those before.\\nQuery 1:"
        policy: "rain<|end|>"
      call 1 after nothing, eos
        template: "Passages:\\n(Title: Bergen) Bergen is a city in Norway with much rain.\\nAnswer the query from the passages, in a few words. If they do not tell, write: No relevant information found\\nQuery: rain\\nAnswer:"
        policy: "Bergen<|end|>"
      call 2 after nothing, stop
        template: "Answer the question from what was looked up, as short as possible.\\nQuery 1: rain\\nAnswer 1: Bergen\\nQuestion: What is the capital of Norway?\\n"
        inserted: "No relevant information found"
      call 3 after nothing, eos
        template: "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.\\nQuestion: What is the capital of Norway?\\nWrite the next question to look up, alone and unlike those before.\\nQuery 1:"
        policy: "capital of Norway<|end|>"
      call 4 after nothing, eos
        template: "Passages:\\n(Title: Oslo) Oslo is the capital of Norway.\\nAnswer the query from the passages, in a few words. If they do not tell, write: No relevant information found\\nQuery: capital of Norway\\nAnswer:"
        policy: "Oslo<|end|>"
      call 5 after nothing, stop
        template: "Answer the question from what was looked up, as short as possible.\\nQuery 1: capital of Norway\\nAnswer 1: Oslo\\nQuestion: What is the capital of Norway?\\n"
        inserted: "No relevant information found"
      call 6 after nothing, eos
        template: "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.\\nQuestion: What is the capital of Norway?\\nWrite the next question to look up, alone and unlike those before.\\nQuery 1:"
        policy: "capital of Peru<|end|>"
      call 7 after nothing, eos
        template: "Passages:\\n(Title: Lima) Lima is the capital of Peru.\\nAnswer the query from the passages, in a few words. If they do not tell, write: No relevant information found\\nQuery: capital of Peru\\nAnswer:"
        policy: "Lima<|end|>"
      call 8 after nothing, stop
        template: "Answer the question from what was looked up, as short as possible.\\nQuery 1: capital of Peru\\nAnswer 1: Lima\\nQuestion: What is the capital of Norway?\\n"
        inserted: "No relevant information found"
      call 9 after nothing, eos
        template: "Passages:\\n(Title: Oslo) Oslo is the capital of Norway.\\nAnswer the question from what was looked up, as short as possible.\\nQuery 1: capital of Norway\\nAnswer 1: Oslo\\nQuestion: What is the capital of Norway?\\n"
        inserted: "<answer>"
        policy: "Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
    expect(trajectory.answer).toBe("Oslo");
    expect(trajectory.confidence).toBeUndefined();
  });

  it("has every chain answer, and takes the answer of most, where it is chosen by votes", async () => {
    const trajectory = await run(promptedPolicy(script), { steps: 1, chains: 3, pick: "votes" });
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo", confidence: 2 / 3 });
    expect([...new Set(trajectory.turns.map(({ chain }) => chain))]).toEqual([
      "chain-1",
      "chain-2",
      "chain-3",
    ]);
  });

  it("draws the queries of the first chain greedily and the others with its temperature", async () => {
    const temperatures: number[] = [];
    const policy = promptedPolicy(script);
    const watched: TokenPolicy = {
      ...policy,
      complete: (request) => {
        if (/Query 1:$/.test(tokenizer.decode([...request.promptIds])))
          temperatures.push(request.temperature);
        return policy.complete(request);
      },
    };
    await run(watched, { steps: 1, chains: 3, pick: "votes", temperature: 0.9 });
    expect(temperatures).toEqual([0, 0.9, 0.9]);
  });

  it("asks a policy nothing that cannot tell likelihoods, and says what to do", async () => {
    const running = run(promptedPolicy(script), {});
    await expect(running).rejects.toThrow(errorWith("STRATEGY_NEEDS_LOGPROBS"));
    await expect(running).rejects.toThrow(/Set evaluation\.strategy\.pick: votes\./);
  });
});

import { describe, expect, it } from "vitest";
import type { TokenPolicy } from "../../../src/rollout/policy.ts";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { promptedPolicy } from "../../helpers/prompted-policy.ts";
import { readable, rolloutOptions } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

type Messages = Parameters<typeof promptedPolicy>[0];

const played = (policy: TokenPolicy, settings: object): Promise<Trajectory> =>
  strategies.get("corag", "test").run(rolloutOptions({ policy, purpose: "eval" }), settings);

const run = (messages: Messages, settings: object = {}): Promise<Trajectory> =>
  played(promptedPolicy(messages), settings);

/** Queries of the chain, without the search with the question itself. */
function queriesOf({ turns }: Trajectory): string[] {
  const searched = turns.filter(({ observations }) => observations.length > 0);
  return searched.slice(0, -1).flatMap(({ actions }) => actions.map(({ input }) => input));
}

describe("corag", () => {
  it("looks up one sub-question after another, then answers with the passages of the question", async () => {
    const trajectory = await run(
      [
        [/Query 1:$/, " Where is much rain?"],
        [/Query 2:$/, " What is the capital?"],
        [/rain\?\nAnswer:$/, " Bergen"],
        [/capital\?\nAnswer:$/, " Oslo"],
        [/<answer>$/, "Oslo</answer>"],
      ],
      { steps: 2 },
    );
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, eos
        template: "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.\\nQuestion: What is the capital of Norway?\\nWrite the next question to look up, alone and unlike those before.\\nQuery 1:"
        policy: " Where is much rain?<|end|>"
      call 1 after nothing, eos
        template: "Passages:\\n(Title: Bergen) Bergen is a city in Norway with much rain.\\nAnswer the query from the passages, in a few words. If they do not tell, write: No relevant information found\\nQuery: Where is much rain?\\nAnswer:"
        policy: " Bergen<|end|>"
      call 2 after nothing, eos
        template: "A question is answered step by step: simpler questions are looked up one at a time until it can be answered.\\nQuestion: What is the capital of Norway?\\nQuery 1: Where is much rain?\\nAnswer 1: Bergen\\nWrite the next question to look up, alone and unlike those before.\\nQuery 2:"
        policy: " What is the capital?<|end|>"
      call 3 after nothing, eos
        template: "Passages:\\n(Title: Oslo) Oslo is the capital of Norway.\\nAnswer the query from the passages, in a few words. If they do not tell, write: No relevant information found\\nQuery: What is the capital?\\nAnswer:"
        policy: " Oslo<|end|>"
      call 4 after nothing, eos
        template: "Passages:\\n(Title: Oslo) Oslo is the capital of Norway.\\nAnswer the question from what was looked up, as short as possible.\\nQuery 1: Where is much rain?\\nAnswer 1: Bergen\\nQuery 2: What is the capital?\\nAnswer 2: Oslo\\nQuestion: What is the capital of Norway?\\n"
        inserted: "<answer>"
        policy: "Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
    expect(trajectory.turns.flatMap(({ actions }) => actions.map(({ input }) => input))).toEqual([
      "Where is much rain?",
      "What is the capital?",
      "What is the capital of Norway?",
      "Oslo",
    ]);
    // What is looked up last was not there before the first message: search rounds are counted in their order.
    expect(trajectory.given).toBeUndefined();
  });

  it("draws a query again, with a temperature, when it was asked before", async () => {
    const trajectory = await run(
      [
        [/Query 1:$/, "rain"],
        [/Query 2:$/, "Rain!", "rain", "capital"],
        [/Answer:$/, "x"],
      ],
      { steps: 2 },
    );
    const searched = trajectory.turns.filter(({ observations }) => observations.length > 0);
    expect(searched.map(({ actions }) => actions[0]?.input)).toEqual([
      "rain",
      "capital",
      "What is the capital of Norway?",
    ]);
    expect(trajectory.calls).toHaveLength(1 + 1 + 3 + 1 + 1);
  });

  it("stops drawing after four tries a step", async () => {
    const trajectory = await run(
      [
        [/Query \d:$/, "rain"],
        [/Answer:$/, "x"],
      ],
      { steps: 3 },
    );
    const queries = trajectory.turns.filter(({ text }) => text === "rain");
    expect(queries).toHaveLength(4 * 3);
  });

  it("ends a chain when its last sub-answer is a reference", async () => {
    const messages: Messages = [
      [/Query 1:$/, "rain"],
      [/Query 2:$/, "capital"],
      [/Query 3:$/, "taxes"],
      [/capital\nAnswer:$/, "Oslo"],
      [/Answer:$/, "Bergen"],
    ];
    const never = Promise.resolve([-9]);
    const policy = { ...promptedPolicy(messages), logprobs: () => never };
    const trajectory = await played(policy, { steps: 3, enough: -0.05 });
    expect(queriesOf(trajectory)).toEqual(["rain", "capital"]);
    expect(strategies.get("corag", "test").readsGold({ enough: -0.05 })).toBe(true);
    expect(strategies.get("corag", "test").readsGold({})).toBe(false);
  });

  it("ends a chain after which a reference is likely enough on average", async () => {
    const messages: Messages = [
      [/Query 1:$/, "rain"],
      [/Query 2:$/, "capital"],
      [/Answer:$/, "Bergen"],
    ];
    const at = (logprob: number) => ({
      ...promptedPolicy(messages),
      // The first token bears all of it: the mean counts.
      logprobs: (_: readonly number[], ids: readonly number[]) =>
        Promise.resolve(ids.map((_, i) => (i === 0 ? ids.length * logprob : 0))),
    });
    expect(queriesOf(await played(at(-0.04), { steps: 2, enough: -0.05 }))).toEqual(["rain"]);
    expect(queriesOf(await played(at(-0.06), { steps: 2, enough: -0.05 }))).toEqual([
      "rain",
      "capital",
    ]);
  });

  it("draws lengths from 1 to its steps, the same for the same seed", async () => {
    const messages: Messages = [
      [/Query (\d):$/, "rain", "capital", "taxes", "rain", "capital", "taxes"],
      [/Answer:$/, "x"],
    ];
    const lengthOf = async (seed: number): Promise<number> => {
      const options = rolloutOptions({ policy: promptedPolicy(messages), seed });
      const corag = strategies.get("corag", "test");
      return queriesOf(await corag.run(options, { steps: 3, randomLength: true })).length;
    };
    const lengths = await Promise.all(Array.from({ length: 40 }, (_, seed) => lengthOf(seed)));
    expect([...new Set(lengths)].sort()).toEqual([1, 2, 3]);
    expect(await lengthOf(7)).toBe(lengths[7]);
  });
});

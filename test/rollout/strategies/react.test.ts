import { describe, expect, it } from "vitest";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { promptedPolicy } from "../../helpers/prompted-policy.ts";
import { readable, rolloutOptions } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

type Messages = Parameters<typeof promptedPolicy>[0];

const run = (messages: Messages, settings: object = {}): Promise<Trajectory> =>
  strategies
    .get("react", "test")
    .run(rolloutOptions({ policy: promptedPolicy(messages), purpose: "eval" }), settings);

describe("react", () => {
  it("writes a transcript of thoughts, actions and observations", async () => {
    const trajectory = await run([
      [
        /Thought 1:$/,
        " I must find the capital.\nAction 1: Search[capital Norway]\nObservation 1: made up",
      ],
      [/Thought 2:$/, " Where is it said?\nAction 2: Lookup[capital]"],
      [/Thought 3:$/, " It is Oslo.\nAction 3: Finish[Oslo]"],
    ]);
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, stop
        template: "Answer a question in steps of a thought, an action and an observation. A thought says what is known and what is missing. An action is one of:\\nSearch[query]: shows the passages that fit a query.\\nLookup[words]: shows the next sentence with these words in the passages of the last search.\\nFinish[answer]: ends with the answer, as short as possible.\\nThe observation is what the action shows; it is written for you.\\nQuestion: What is the capital of Norway?\\nThought 1:"
        policy: " I must find the capital.\\nAction 1: Search[capital Norway]\\nObservation"
      call 1 after nothing, eos
        template: "Answer a question in steps of a thought, an action and an observation. A thought says what is known and what is missing. An action is one of:\\nSearch[query]: shows the passages that fit a query.\\nLookup[words]: shows the next sentence with these words in the passages of the last search.\\nFinish[answer]: ends with the answer, as short as possible.\\nThe observation is what the action shows; it is written for you.\\nQuestion: What is the capital of Norway?\\nThought 1: I must find the capital.\\nAction 1: Search[capital Norway]\\nObservation 1: Doc 1(Title: Oslo) Oslo is the capital of Norway.\\nThought 2:"
        policy: " Where is it said?\\nAction 2: Lookup[capital]<|end|>"
      call 2 after nothing, eos
        template: "Answer a question in steps of a thought, an action and an observation. A thought says what is known and what is missing. An action is one of:\\nSearch[query]: shows the passages that fit a query.\\nLookup[words]: shows the next sentence with these words in the passages of the last search.\\nFinish[answer]: ends with the answer, as short as possible.\\nThe observation is what the action shows; it is written for you.\\nQuestion: What is the capital of Norway?\\nThought 1: I must find the capital.\\nAction 1: Search[capital Norway]\\nObservation 1: Doc 1(Title: Oslo) Oslo is the capital of Norway.\\nThought 2: Where is it said?\\nAction 2: Lookup[capital]\\nObservation 2: (Result 1 / 1) (Title: Oslo) Oslo is the capital of Norway.\\nThought 3:"
        policy: " It is Oslo.\\nAction 3: Finish[Oslo]<|end|>"
      answered, answer "Oslo""
    `);
    expect(trajectory.turns.map(({ actions }) => actions)).toEqual([
      [{ tool: "search", input: "capital Norway" }],
      [{ tool: "lookup", input: "capital" }],
      [{ tool: "answer", input: "Oslo" }],
    ]);
  });

  it("asks for the action alone where a thought came without one", async () => {
    const trajectory = await run([
      [/Thought 1:$/, " It is Oslo.\nI am sure."],
      [/Thought 1: It is Oslo\.\nAction 1:$/, " Finish[Oslo]"],
    ]);
    expect(trajectory.answer).toBe("Oslo");
    expect(trajectory.turns.map(({ problems }) => problems.map(({ code }) => code))).toEqual([
      ["no-action"],
      [],
    ]);
  });

  it("tells what is wrong with an action that it does not know", async () => {
    const trajectory = await run([
      [/Thought 1:$/, " Hm.\nAction 1: Fly[Oslo]"],
      [/Invalid action: Fly\[Oslo\]\. Use .*Thought 2:$/s, " So.\nAction 2: Finish[Oslo]"],
    ]);
    expect(trajectory.answer).toBe("Oslo");
    expect(trajectory.turns[0]!.problems).toEqual([
      { code: "invalid-action", message: "Invalid action: Fly[Oslo]" },
    ]);
  });

  it("looks words up one sentence after another in what was searched last", async () => {
    const trajectory = await run([
      [/Thought 1:$/, "Action 1: Search[Grieg composer]"],
      [/Thought [234]:$/, "Action 2: Lookup[bergen]"],
      [/Thought 5:$/, "Action 5: Finish[Bergen]"],
    ]);
    expect(trajectory.turns.slice(1, 4).map(({ observations }) => observations[0]?.text)).toEqual([
      "(Result 1 / 1) (Title: Grieg) Grieg was a composer, born in Bergen.",
      "No more results.",
      "No more results.",
    ]);
  });

  it("has no answer when its steps are used up", async () => {
    const trajectory = await run([[/Thought \d:$/, "Action: Search[rain]"]], { steps: 3 });
    expect(trajectory).toMatchObject({ end: "no-answer", answer: null });
    expect(trajectory.turns).toHaveLength(3);
  });

  it("shows examples before the question", async () => {
    const trajectory = await run([[/./s, "Action 1: Finish[Oslo]"]], {
      examples: "Question: Who?\nThought 1: …\n",
    });
    expect(readable(trajectory)).toContain("Thought 1: …\\nQuestion: What is the capital");
  });
});

import { describe, expect, it } from "vitest";
import { policyRows } from "../../src/algorithms/training-rows.ts";
import { InternalError } from "../../src/base/errors.ts";
import type { Retriever } from "../../src/retrieval/retriever.ts";
import type { CompletionRequest, TokenPolicy } from "../../src/rollout/policy.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { sequenceIds, tokenRows } from "../../src/trajectory/trajectory.ts";
import {
  corpus,
  readable,
  replay,
  rolloutOptions,
  searchEnvironment,
  tagTokenizer,
  tokenizer,
} from "../helpers/search-world.ts";

const turns = (limit: number, onExhausted: "final-turn" | "end" = "final-turn") => [
  { scope: "trajectory", unit: "turns", limit, onExhausted },
];
const play = (messages: string[], environment = searchEnvironment()) =>
  rollOut(rolloutOptions({ policy: replay(messages), environment }));

const SEARCH = "<think> the capital</think><search> capital Norway</search>";
const ANSWER = "<answer> Oslo</answer>";

/** Records what the policy was given and what it wrote; log-probabilities tell tokens apart. */
function recording(policy: TokenPolicy): {
  policy: TokenPolicy;
  seen: CompletionRequest[];
  wrote: number[][];
} {
  const seen: CompletionRequest[] = [];
  const wrote: number[][] = [];
  let token = 0;
  const complete: TokenPolicy["complete"] = async (request) => {
    seen.push(request);
    const result = await policy.complete(request);
    wrote.push(result.ids);
    return { ...result, logprobs: result.ids.map(() => -++token) };
  };
  return { policy: { ...policy, complete }, seen, wrote };
}

describe("rollOut", () => {
  it("plays searches and an answer, every token under its owner", async () => {
    const trajectory = await play([SEARCH, ANSWER]);
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, stop
        template: "Question: What is the capital of Norway?\\n"
        policy: "<think> the capital</think><search> capital Norway</search>"
      call 1 after 0, eos
        environment: "\\n\\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\\n</information>\\n\\n"
        policy: "<answer> Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
    expect(trajectory.turns).toMatchInlineSnapshot(`
      [
        {
          "actions": [
            {
              "input": "capital Norway",
              "tool": "search",
            },
          ],
          "call": 0,
          "observations": [
            {
              "passageIds": [
                "oslo",
              ],
              "text": "Doc 1(Title: Oslo) Oslo is the capital of Norway.
      ",
              "tool": "search",
            },
          ],
          "problems": [],
          "text": "<think> the capital</think><search> capital Norway</search>",
        },
        {
          "actions": [
            {
              "input": "Oslo",
              "tool": "answer",
            },
          ],
          "call": 1,
          "observations": [],
          "problems": [],
          "text": "<answer> Oslo</answer>",
        },
      ]
    `);
  });

  it("keeps ids as they were given and written, and never encodes them again", async () => {
    const { policy, seen, wrote } = recording(replay([SEARCH, "hm", ANSWER]));
    const { calls } = await rollOut(rolloutOptions({ policy }));
    expect(calls).toHaveLength(3);
    calls.forEach((_, i) => {
      expect(sequenceIds(calls, i)).toEqual([...seen[i]!.promptIds, ...wrote[i]!]);
    });
    expect(seen[1]!.promptIds.slice(0, sequenceIds(calls, 0).length)).toEqual(
      sequenceIds(calls, 0),
    );
  });

  it("trains only what the policy wrote, with the log-probability of each token at its target", async () => {
    const { policy, wrote } = recording(replay([SEARCH, "hm", ANSWER]));
    const trajectory = await rollOut(rolloutOptions({ policy }));
    const [row, ...others] = policyRows(trajectory);
    expect(others).toEqual([]);
    const trained = row!.targets.flatMap((id, i) =>
      row!.lossMask[i] === 1 ? [[id, row!.sampledLogprobs[i]]] : [],
    );
    expect(trained).toEqual(wrote.flat().map((id, i) => [id, -(i + 1)]));
    row!.lossMask.forEach((mask, i) => {
      if (mask === 0) expect(row!.sampledLogprobs[i]).toBeNaN();
    });
  });

  it("asks for each message with the protocol's stops and a seed of its own", async () => {
    const { policy, seen } = recording(replay([SEARCH, ANSWER]));
    await rollOut(
      rolloutOptions({ policy, seed: 5, sampling: { temperature: 1, topP: 0.9, topK: 3 } }),
    );
    expect(seen[0]).toMatchObject({
      stopStrings: ["</search>"],
      stopIds: [tokenizer.endId],
      sequence: "one",
      temperature: 1,
      topP: 0.9,
      topK: 3,
      maxTokens: 500,
    });
    expect(seen[0]!.seed).not.toBe(seen[1]!.seed);
    const again = recording(replay([SEARCH, ANSWER]));
    await rollOut(rolloutOptions({ policy: again.policy, seed: 5 }));
    expect(again.seen.map(({ seed }) => seed)).toEqual(seen.map(({ seed }) => seed));
  });

  it("corrects a message without an action and goes on", async () => {
    expect(readable(await play(["I think so", ANSWER]))).toMatchInlineSnapshot(`
      "call 0 after nothing, eos
        template: "Question: What is the capital of Norway?\\n"
        policy: "I think so<|end|>"
      call 1 after 0, eos
        environment: "\\nThat message had no valid action. To search, I write the query between <search> and </search>; to finish, I write the answer between <answer> and </answer>. Let me try again.\\n"
        policy: "<answer> Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
  });

  it("ends at a message without an action where the recipe says so", async () => {
    const environment = searchEnvironment({ onInvalid: "end" });
    const trajectory = await play(["I think so", ANSWER], environment);
    expect(trajectory).toMatchObject({ end: "invalid", answer: null });
    expect(trajectory.turns[0]?.problems).toEqual([
      { code: "no-action", message: "neither search nor answer" },
    ]);
  });

  it("gives maxTurns turns with tools and one without", async () => {
    const environment = searchEnvironment({ budgets: turns(2) });
    const trajectory = await play([SEARCH, SEARCH, SEARCH, ANSWER], environment);
    expect(trajectory.turns.map(({ observations }) => observations.length)).toEqual([1, 1, 0]);
    expect(trajectory).toMatchObject({ end: "turn-limit", answer: null });
    const last = await play([SEARCH, "hm", ANSWER], environment);
    expect(last).toMatchObject({ end: "answered", answer: "Oslo" });
    expect(last.turns).toHaveLength(3);
  });

  it("gives no turn more where the budget ends the trajectory", async () => {
    const environment = searchEnvironment({ budgets: turns(2, "end") });
    const trajectory = await play([SEARCH, SEARCH, ANSWER], environment);
    expect(trajectory).toMatchObject({ end: "turn-limit", answer: null });
    expect(trajectory.turns).toHaveLength(2);
  });

  it("records a tool's failure on its trajectory while the siblings go on", async () => {
    const flaky: Retriever = {
      ...corpus,
      search: (queries, ...rest) =>
        queries[0] === "broken"
          ? Promise.reject(new Error("HTTP 503"))
          : corpus.search(queries, ...rest),
    };
    const environment = searchEnvironment({}, flaky);
    const [failed, sibling] = await Promise.all([
      play(["<search>broken</search>", ANSWER], environment),
      play([SEARCH, ANSWER], environment),
    ]);
    expect(failed).toMatchObject({
      end: "tool-error",
      answer: null,
      error: { boundary: "tool", code: "TOOL_FAILED", message: "tool: HTTP 503" },
    });
    expect(tokenRows(failed)).toHaveLength(1);
    expect(sibling).toMatchObject({ end: "answered", answer: "Oslo" });
  });

  it("throws a bug and an interruption instead of recording them", async () => {
    const bug = new InternalError("PART_TWICE", "a bug");
    const broken: Retriever = { ...corpus, search: () => Promise.reject(bug) };
    await expect(play([SEARCH], searchEnvironment({}, broken))).rejects.toBe(bug);
    const interruption = new AbortController();
    const stopping: Retriever = {
      ...corpus,
      search: () => {
        interruption.abort(new Error("stop"));
        return Promise.reject(new Error("connection lost"));
      },
    };
    const environment = searchEnvironment({}, stopping);
    const { signal } = interruption;
    const options = rolloutOptions({ policy: replay([SEARCH]), environment, signal });
    await expect(rollOut(options)).rejects.toThrow("stop");
  });

  it("asks the policy for nothing once it is interrupted, and lets go of the sequence", async () => {
    const { policy, seen } = recording(replay([SEARCH]));
    const ended: string[] = [];
    const signal = AbortSignal.abort(new Error("stop"));
    const end = (sequence: string) => ended.push(sequence);
    const options = rolloutOptions({ policy: { ...policy, end }, signal });
    await expect(rollOut(options)).rejects.toThrow("stop");
    expect(seen).toEqual([]);
    expect(ended).toEqual(["one"]);
  });

  it("keeps a token that straddles the cut and goes on after it", async () => {
    const wide = tagTokenizer("</search>!!");
    const { policy, seen } = recording(
      replay(["<search> Oslo</search>!! and", "<answer> Oslo</answer>!"], wide),
    );
    const trajectory = await rollOut(rolloutOptions({ policy }));
    expect(readable(trajectory, wide)).toMatchInlineSnapshot(`
      "call 0 after nothing, stop
        template: "Question: What is the capital of Norway?\\n"
        policy: "<search> Oslo</search>!!"
      call 1 after 0, stop
        environment: "\\n\\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\\n</information>\\n\\n"
        policy: "<answer> Oslo</answer>"
      answered, answer "Oslo""
    `);
    expect(trajectory.turns[0]?.text).toBe("<search> Oslo</search>");
    expect(wide.decode(seen[1]!.promptIds)).toContain("</search>!!\n\n<information>");
  });

  it("goes on after a policy that ends its message at once", async () => {
    const trajectory = await play(["", ANSWER]);
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
    expect(tokenizer.decode(trajectory.calls[0]!.completion[0]!.ids)).toBe("<|end|>");
  });
});

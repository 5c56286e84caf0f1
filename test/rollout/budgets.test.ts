import { describe, expect, it } from "vitest";
import { policyRows } from "../../src/algorithms/training-rows.ts";
import { scriptedPolicy } from "../../src/rollout/policy.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { tokenRows } from "../../src/trajectory/trajectory.ts";
import {
  readable,
  replay,
  rolloutOptions,
  searchEnvironment,
  task,
  tokenizer,
} from "../helpers/search-world.ts";

const SEARCH = "<search> capital Norway</search>";
const ANSWER = "<answer> Oslo</answer>";
/** Of "Question: What is the capital of Norway?\n". */
const PROMPT_TOKENS = tokenizer.encode(
  searchEnvironment().start(task, { trajectoryId: "one", seed: 1 }).prompt,
).length;

const play = (messages: string[], ...budgets: object[]) =>
  rollOut(
    rolloutOptions({ policy: replay(messages), environment: searchEnvironment({ budgets }) }),
  );
const cut = (scope: "turn" | "observation", limit: number) => {
  return { scope, unit: "tokens", limit, onExhausted: "cut" };
};
const context = (limit: number, onExhausted: "end" | "drop-oldest" | "drop-middle") => {
  return { scope: "context", unit: "tokens", limit, onExhausted };
};

describe("budgets", () => {
  it("cuts a message at the turn's tokens; without its closing tag it has no action", async () => {
    const trajectory = await play([SEARCH, ANSWER], cut("turn", 3));
    expect(trajectory.calls[0]).toMatchObject({ finish: "length" });
    expect(trajectory.turns[0]).toMatchObject({ text: "<search> capital Norway", actions: [] });
    expect(trajectory.turns[1]).toMatchObject({ text: ANSWER });
  });

  it("cuts an observation on the right and leaves the record whole", async () => {
    const trajectory = await play([SEARCH, ANSWER], cut("observation", 5));
    expect(trajectory.calls[1]!.prompt).toEqual([
      { owner: "environment", ids: tokenizer.encode("\n\n<information>Do"), logprobs: null },
    ]);
    expect(trajectory.turns[0]!.observations[0]!.text).toMatch(/Norway\.\n$/);
    expect(trajectory.end).toBe("answered");
  });

  it("ends a trajectory whose context is full", async () => {
    // The prompt, the search of four tokens, and no room for what it found.
    const trajectory = await play([SEARCH, ANSWER], context(PROMPT_TOKENS + 10, "end"));
    expect(trajectory).toMatchObject({ end: "context-limit", answer: null });
    expect(trajectory.calls).toHaveLength(1);
    expect(trajectory.turns).toHaveLength(1);
  });

  it("says of a message that was cut by the context that the context was full", async () => {
    const trajectory = await play([SEARCH], context(PROMPT_TOKENS + 2, "end"));
    expect(trajectory).toMatchObject({ end: "context-limit", calls: [{ finish: "context" }] });
    expect(trajectory.turns[0]!.text).toBe("<search> capital");
  });

  it("ends before the first message where the prompt alone fills the context", async () => {
    const trajectory = await play([ANSWER], context(PROMPT_TOKENS, "end"));
    expect(trajectory).toMatchObject({ end: "context-limit", calls: [], turns: [] });
    const policy = scriptedPolicy(tokenizer, () => ANSWER, PROMPT_TOKENS);
    expect(await rollOut(rolloutOptions({ policy }))).toMatchObject({ end: "context-limit" });
  });

  it("shows the newest tokens only where the oldest are dropped, and leaves room for a whole message", async () => {
    const limit = 40;
    const seen: number[] = [];
    const policy = scriptedPolicy(tokenizer, ({ promptIds, maxTokens, turns }) => {
      expect(promptIds.length + maxTokens).toBeLessThanOrEqual(limit);
      expect(maxTokens).toBe(8);
      seen.push(promptIds.length);
      return [SEARCH, SEARCH, ANSWER][turns.length]!;
    });
    const budgets = [context(limit, "drop-oldest"), cut("turn", 8), cut("observation", 20)];
    const trajectory = await rollOut(
      rolloutOptions({ policy, environment: searchEnvironment({ budgets }) }),
    );
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, stop
        template: "Question: What is the capital of Norway?\\n"
        policy: "<search> capital Norway</search>"
      call 1 after nothing, stop
        template: "t is the capital of Norway?\\n<search> capital Norway</search>\\n\\n<information>Doc 1(Title: Oslo) Oslo is the"
        policy: "<search> capital Norway</search>"
      call 2 after nothing, eos
        template: "le: Oslo) Oslo is the<search> capital Norway</search>\\n\\n<information>Doc 1(Title: Oslo) Oslo is the"
        policy: "<answer> Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
    expect(seen.slice(1)).toEqual([32, 32]);
  });

  it("keeps the question where the middle is dropped", async () => {
    const budgets = [context(48, "drop-middle"), cut("turn", 8), cut("observation", 20)];
    const trajectory = await play([SEARCH, SEARCH, SEARCH, ANSWER], ...budgets);
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, stop
        template: "Question: What is the capital of Norway?\\n"
        policy: "<search> capital Norway</search>"
      call 1 after nothing, stop
        template: "Question: What is the capital of Norway?\\n"
        template: "\\n<information>Doc 1(Title: Oslo) Oslo is the"
        policy: "<search> capital Norway</search>"
      call 2 after nothing, stop
        template: "Question: What is the capital of Norway?\\n"
        template: "\\n<information>Doc 1(Title: Oslo) Oslo is the"
        policy: "<search> capital Norway</search>"
      call 3 after nothing, eos
        template: "Question: What is the capital of Norway?\\n"
        template: "\\n<information>Doc 1(Title: Oslo) Oslo is the"
        policy: "<answer> Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
    for (const [i, { prompt, cut: isCut }] of trajectory.calls.entries()) {
      expect(isCut).toBe(i > 0 ? true : undefined);
      expect(prompt.flatMap(({ ids }) => ids).length).toBeLessThanOrEqual(40);
    }
  });

  it("ends where the question alone fills a context whose middle is dropped", async () => {
    expect(await play([ANSWER], context(PROMPT_TOKENS, "drop-middle"))).toMatchObject({
      end: "context-limit",
      calls: [],
    });
  });

  it("trains each token once where the oldest are dropped: a prompt built anew holds no policy token", async () => {
    const budgets = [context(40, "drop-oldest"), cut("turn", 8), cut("observation", 20)];
    const trajectory = await play([SEARCH, SEARCH, ANSWER], ...budgets);
    expect(tokenRows(trajectory)).toHaveLength(3);
    const trained = policyRows(trajectory, { lossOn: ["policy", "environment"] }).map((row) =>
      tokenizer.decode(row.targets.filter((_, i) => row.lossMask[i] === 1)),
    );
    expect(trained).toEqual([SEARCH, SEARCH, `${ANSWER}<|end|>`]);
  });
});

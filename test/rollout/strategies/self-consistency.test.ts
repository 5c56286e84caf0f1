import { describe, expect, it } from "vitest";
import { RolloutError } from "../../../src/base/errors.ts";
import { scriptedPolicy } from "../../../src/rollout/policy.ts";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { readable, rolloutOptions, tokenizer } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const selfConsistency = strategies.get("self-consistency", "test");

/** Draws answer these, one each; null gives up. */
function run(answers: readonly (string | null)[], settings: object = {}): Promise<Trajectory> {
  let draw = 0;
  const policy = scriptedPolicy(tokenizer, () => {
    const answer = answers[draw++] ?? null;
    return answer === null ? "" : `${answer}</answer>`;
  });
  const options = rolloutOptions({ policy, purpose: "eval" });
  return selfConsistency.run(options, { strategy: "direct", draws: answers.length, ...settings });
}

describe("self-consistency", () => {
  it("gives the answer of most draws as its first draw spelt it, and its share", async () => {
    const trajectory = await run(["Lima", "Oslo", "the oslo"]);
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, eos
        template: "Question: What is the capital of Norway?\\n"
        inserted: "<answer>"
        policy: "Lima</answer><|end|>"
      call 1 after nothing, eos
        template: "Question: What is the capital of Norway?\\n"
        inserted: "<answer>"
        policy: "Oslo</answer><|end|>"
      call 2 after nothing, eos
        template: "Question: What is the capital of Norway?\\n"
        inserted: "<answer>"
        policy: "the oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
    expect(trajectory).toMatchObject({ answer: "Oslo", confidence: 2 / 3 });
    expect(trajectory.turns.map(({ chain }) => chain)).toEqual(["draw-1", "draw-2", "draw-3"]);
  });

  it("takes the earlier of two answers as frequent, and counts draws without an answer", async () => {
    expect(await run([null, "Lima", "Oslo", null])).toMatchObject({
      answer: "Lima",
      confidence: 1 / 4,
    });
  });

  it("ends as its first draw did when none answered", async () => {
    const trajectory = await run([null, null]);
    expect(trajectory).toMatchObject({ end: "turn-limit", answer: null });
    expect(trajectory.confidence).toBeUndefined();
  });

  it("draws with a temperature and a seed of its own each, whatever the run says", async () => {
    const asked: { temperature: number; seed: number }[] = [];
    const policy = scriptedPolicy(tokenizer, ({ temperature, seed }) => {
      asked.push({ temperature, seed });
      return "Oslo</answer>";
    });
    await selfConsistency.run(rolloutOptions({ policy }), { strategy: "direct", draws: 3 });
    expect(asked.map(({ temperature }) => temperature)).toEqual([0.7, 0.7, 0.7]);
    expect(new Set(asked.map(({ seed }) => seed)).size).toBe(3);
  });

  it("passes options on to the strategy that it draws from, and searches where that does", () => {
    const strategy = { name: "ircot", steps: 2 };
    expect(selfConsistency.options.parse({ strategy })).toMatchObject({
      strategy: { passages: 15 },
    });
    expect(selfConsistency.searches({ strategy })).toBe(true);
    expect(selfConsistency.searches({ strategy: "cot" })).toBe(false);
    expect(() => selfConsistency.options.parse({ strategy: "self-consistency" })).toThrow();
  });

  it("is not measured where a draw failed: fewer votes would be another method", async () => {
    let draw = 0;
    const policy = {
      ...scriptedPolicy(tokenizer, () => "Oslo</answer>"),
      complete: (request: Parameters<ReturnType<typeof scriptedPolicy>["complete"]>[0]) =>
        draw++ === 1
          ? Promise.reject(new RolloutError("HTTP_UNREACHABLE", "down"))
          : scriptedPolicy(tokenizer, () => "Oslo</answer>").complete(request),
    };
    const trajectory = await selfConsistency.run(rolloutOptions({ policy }), {
      strategy: "direct",
      draws: 3,
    });
    expect(trajectory).toMatchObject({
      end: "model-error",
      answer: null,
      error: { boundary: "model", code: "HTTP_UNREACHABLE", message: "down" },
    });
    expect(trajectory.calls).toHaveLength(2);
  });
});

import { describe, expect, it } from "vitest";
import { lintContextOf } from "../../src/rollout/lint-context.ts";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { strategies } from "../../src/rollout/strategies/index.ts";
import { openLint } from "../../src/trajectory/lint/open-lint.ts";
import type { Trajectory } from "../../src/trajectory/trajectory.ts";
import { replay, rolloutOptions, searchEnvironment, tokenizer } from "../helpers/search-world.ts";
import "../helpers/all-parts.ts";

const SEARCH = "<search> capital Norway</search>";
const budgets = [{ scope: "trajectory", unit: "calls", limit: 1, onExhausted: "forced-answer" }];

function play(messages: string[], options: object = {}): Promise<Trajectory> {
  const environment = searchEnvironment({ budgets, ...options });
  return rollOut(rolloutOptions({ policy: replay(messages), environment }));
}

/** Violations that the lint finds in a trajectory. */
function violationsOf(trajectory: Trajectory, strategy = "agent"): unknown {
  const drawn = { environment: searchEnvironment({ budgets }), strategy, temperature: 0 };
  const reading = {
    textOf: ({ ids }: { ids: readonly number[] }) => tokenizer.decode(ids),
    endIds: tokenizer.endIds,
    vocabSize: tokenizer.vocabSize,
    contextOf: () => lintContextOf(drawn),
  };
  const lint = openLint(reading, { keep: 3 });
  lint.line(JSON.parse(JSON.stringify(trajectory)), 1);
  return lint.report().violations;
}

describe("a forced answer that ends with EOS and not with its tag", () => {
  it.each(["search-r1", "tags"])(
    "is an answer in %s, and its tokens stay as sampled",
    async (protocol) => {
      const trajectory = await play([SEARCH, " Oslo"], { protocol });
      expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
      expect(trajectory.turns[1]?.text).toBe("<answer> Oslo</answer>");
      const last = trajectory.calls[1]!;
      expect(last.finish).toBe("eos");
      const sampled = last.completion.filter(({ owner }) => owner === "policy");
      expect(tokenizer.decode(sampled.flatMap(({ ids }) => ids))).toBe(" Oslo<|end|>");
      expect(violationsOf(trajectory)).toEqual([]);
    },
  );

  it("is an answer in the grammar of JSON calls", async () => {
    const call =
      '<tool_call>{"name": "search", "arguments": {"query": "capital Norway"}}</tool_call>';
    const trajectory = await play([call, " Oslo"], { protocol: "hermes" });
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
  });

  it("is an answer in a box, with braces of its own", async () => {
    const protocol = { name: "tags", boxed: "alone" };
    const trajectory = await play([SEARCH, "\\frac{1}{2}"], { protocol });
    expect(trajectory).toMatchObject({ end: "answered", answer: "\\frac{1}{2}" });
  });

  it("is an answer of a strategy that asks once", async () => {
    const options = rolloutOptions({ policy: replay([" Oslo"]), purpose: "eval" });
    const trajectory = await strategies.get("rag", "test").run(options, {});
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
    expect(violationsOf(trajectory, "rag")).toEqual([]);
  });

  it("is none where the policy opened the answer itself, or where its budget cut it", async () => {
    const own = await play(["<answer> Oslo"], { onInvalid: "end" });
    expect(own.turns[0]?.text).toBe("<answer> Oslo");
    expect(own.answer).toBeNull();
    const cut = [...budgets, { scope: "turn", unit: "tokens", limit: 8, onExhausted: "cut" }];
    const long = await play([SEARCH, " Oslo is a city on a fjord in the south of Norway"], {
      budgets: cut,
    });
    expect(long.calls.at(-1)?.finish).toBe("length");
    expect(long.answer).toBeNull();
  });
});

import { describe, expect, it } from "vitest";
import { strategies } from "../../../src/rollout/strategies/index.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { playHinted } from "../../helpers/hinted.ts";
import { readable, replay, rolloutOptions, searchEnvironment } from "../../helpers/search-world.ts";
import "../../helpers/all-parts.ts";

const THINKS = "<think> Oslo, surely</think><answer>Bergen</answer>";
const SEARCHES = "</think><search>capital Norway</search>";
const ANSWERS = "<answer> Oslo</answer>";
const HINT = " Wait: I could search for that to make sure, before I answer.";
const budgets = [
  { scope: "trajectory", unit: "turns", limit: 1, onExhausted: "final-turn" },
] as const;

describe("hint-infer", () => {
  it("holds an answer up with a hint before the end of thinking unless told otherwise, all in one call", async () => {
    const policy = { policy: replay([]) };
    const texts = [THINKS, SEARCHES, ANSWERS];
    const trajectory = await playHinted(texts, ["before-answer"]);
    expect(readable(trajectory)).toMatchInlineSnapshot(`
      "call 0 after nothing, stop
        template: "Question: What is the capital of Norway?\\n"
        policy: "<think> Oslo, surely"
        inserted: " Wait: I could search for that to make sure, before I answer."
        policy: "</think><search>capital Norway</search>"
      call 1 after 0, eos
        environment: "\\n\\n<information>Doc 1(Title: Oslo) Oslo is the capital of Norway.\\n</information>\\n\\n"
        policy: "<answer> Oslo</answer><|end|>"
      answered, answer "Oslo""
    `);
    expect(trajectory.hints).toEqual([{ name: "before-answer", call: 0, text: HINT }]);
    expect(trajectory.turns.map(({ text }) => text)).toEqual([
      `<think> Oslo, surely${HINT}${SEARCHES}`,
      ANSWERS,
    ]);
    const { options } = strategies.get("hint-infer", "test");
    expect(options.parse({})).toMatchObject({ hints: [{ name: "before-answer", times: 1 }] });
    await expect(
      strategies.get("hint-infer", "test").run(rolloutOptions(policy), { hints: ["before"] }),
    ).rejects.toThrow(errorWith("PART_UNKNOWN"));
  });

  it("keeps the log-probabilities of what the policy wrote before a hint, and those of what it wrote after it", async () => {
    const { calls } = await playHinted([THINKS, SEARCHES, ANSWERS], ["before-answer"]);
    const [before, hint, after] = calls[0]!.completion;
    const first = before!.ids.length;
    expect(before!.logprobs).toEqual(before!.ids.map((_, i) => -1 - i));
    expect(hint!.logprobs).toBeNull();
    // All of the message that was taken back was numbered.
    const [start] = after!.logprobs!;
    expect(start).toBeLessThan(-first);
    expect(after!.logprobs).toEqual(after!.ids.map((_, i) => start! - i));
  });

  it("puts of several hints first what stands first in the message", async () => {
    const trajectory = await playHinted(
      [
        "<think> Wait, Lima</think><answer>Lima</answer>",
        " Hm.</think><answer>Lima</answer>",
        ANSWERS,
      ],
      [
        { name: "before-answer", text: " [B]" },
        { name: "after-connective", text: " [A]" },
      ],
    );
    expect(trajectory.turns[0]!.text).toBe(`<think> Wait [A] Hm. [B]${ANSWERS}`);
    expect(trajectory.hints).toEqual([
      { name: "after-connective", call: 0, text: " [A]" },
      { name: "before-answer", call: 0, text: " [B]" },
    ]);
  });

  it("counts two hints of one name apart", async () => {
    const trajectory = await playHinted(
      ["<think> Wait, so. Hm", " x. Hm", " y</think><answer>Lima</answer>"],
      [
        { name: "after-connective", connectives: ["Wait"], text: "[1]" },
        { name: "after-connective", connectives: ["Hm"], text: "[2]" },
      ],
    );
    expect(trajectory.turns[0]!.text).toBe(
      "<think> Wait[1] x. Hm[2] y</think><answer>Lima</answer>",
    );
  });

  it("gives a last turn, after which no search would run, no hint of any kind", async () => {
    const environment = searchEnvironment({ budgets });
    const hints = ["before-answer", { name: "opening", messages: "every", text: "[O]" }];
    const trajectory = await playHinted([SEARCHES, ANSWERS], hints, { environment });
    expect(trajectory.turns.map(({ text }) => text)).toEqual([`<think>[O]${SEARCHES}`, ANSWERS]);
    expect(trajectory.hints).toHaveLength(1);
  });

  it("leaves an answer as it stands where a hint finds no room, and counts it as not given", async () => {
    const environment = searchEnvironment({
      budgets: [{ scope: "turn", unit: "tokens", limit: 40, onExhausted: "cut" }],
    });
    const trajectory = await playHinted(
      [ANSWERS],
      [{ name: "before-answer", text: "x".repeat(40) }],
      { environment },
    );
    expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
    expect(trajectory.hints).toBeUndefined();
    expect(readable(trajectory)).toContain('policy: "<answer> Oslo</answer><|end|>"');
  });

  it("draws by the rollout's seed", async () => {
    const text = ["[a]", "[b]", "[c]", "[d]"];
    const drawn = await Promise.all(
      Array.from({ length: 12 }, async (_, seed) => {
        const hints = [{ name: "before-answer", text }];
        const play = () => playHinted([ANSWERS, ANSWERS], hints, { seed });
        const [one, again] = await Promise.all([play(), play()]);
        expect(one).toEqual(again);
        return one.hints![0]!.text;
      }),
    );
    expect(new Set(drawn).size).toBeGreaterThan(2);
  });

  it("says whether its hints tell gold, through self-consistency too", () => {
    const told = { hints: ["withheld"] };
    const strategy = strategies.get("hint-infer", "test");
    expect([strategy.readsGold(), strategy.readsGold(told)]).toEqual([false, true]);
    expect(strategy.readsGold({ hints: [{ name: "withheld", text: "Think well.\n" }] })).toBe(
      false,
    );
    const voted = strategies.get("self-consistency", "test");
    expect(voted.readsGold({ strategy: { name: "hint-infer", ...told } })).toBe(true);
  });
});

import { describe, expect, it } from "vitest";
import { rollOut } from "../../src/rollout/roll-out.ts";
import { scriptedText } from "../../src/rollout/scripted-text.ts";
import type { PrefixMessage } from "../../src/trajectory/task.ts";
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
const given = (owner: PrefixMessage["owner"]) => {
  return { ...task, prefix: [{ text: SEARCH, owner }] };
};

describe("a task that begins with messages", () => {
  it("goes on after them as after its own: same tokens, none of them sampled", async () => {
    const whole = await rollOut(rolloutOptions({ policy: replay([SEARCH, ANSWER]) }));
    for (const owner of ["policy", "inserted"] as const) {
      const policy = replay([SEARCH, ANSWER]);
      const trajectory = await rollOut(rolloutOptions({ policy, task: given(owner) }));
      expect(trajectory).toMatchObject({ end: "answered", answer: "Oslo" });
      expect(trajectory.turns).toEqual(whole.turns);
      expect(readable(trajectory).replace(/inserted: "<search>/, 'policy: "<search>')).toBe(
        readable(whole),
      );
      expect(trajectory.calls[0]?.completion).toEqual([
        { owner, ids: tokenizer.encode(SEARCH), logprobs: null },
      ]);
    }
  });

  it("counts them as turns, and ends where they end it", async () => {
    const budgets = [{ scope: "trajectory", unit: "turns", limit: 1, onExhausted: "end" }];
    const environment = searchEnvironment({ budgets });
    const options = { policy: replay([]), environment };
    const spent = await rollOut(rolloutOptions({ ...options, task: given("policy") }));
    expect(spent).toMatchObject({ end: "turn-limit", turns: [{ text: SEARCH }] });
    const prefix = [{ text: ANSWER, owner: "policy" as const }];
    const done = await rollOut(rolloutOptions({ ...options, task: { ...task, prefix } }));
    expect(done).toMatchObject({ end: "answered", answer: "Oslo" });
  });

  it("is shown to a policy of texts as well", async () => {
    const shown: string[] = [];
    const policy = scriptedText((place) => {
      shown.push(...place.shown);
      return ANSWER;
    });
    const trajectory = await rollOut(rolloutOptions({ policy, task: given("policy") }));
    expect(trajectory.turns.map(({ text }) => text)).toEqual([SEARCH, ANSWER]);
    expect(shown.at(-1)).toContain("Oslo is the capital of Norway.");
  });
});

describe("budgets of calls and of the response", () => {
  const play = (messages: string[], ...budgets: object[]) =>
    rollOut(
      rolloutOptions({ policy: replay(messages), environment: searchEnvironment({ budgets }) }),
    );
  const calls = (limit: number, onExhausted: string) => {
    return { scope: "trajectory", unit: "calls", limit, onExhausted };
  };

  it("answers calls beyond the limit with a note, and goes on", async () => {
    const { turns, end } = await play([SEARCH, SEARCH, ANSWER], calls(1, "notice"));
    expect(end).toBe("answered");
    expect(turns[1]?.observations[0]?.problem?.code).toBe("no-calls-left");
  });

  it("ends, or allows one more message, with the answer's beginning where it is forced", async () => {
    expect((await play([SEARCH, ANSWER], calls(1, "end"))).end).toBe("budget-limit");
    const last = await play([SEARCH, SEARCH], calls(1, "final-turn"));
    expect(last).toMatchObject({ end: "turn-limit", turns: [{}, { observations: [] }] });
    const forced = await play([SEARCH, " Oslo</answer>"], calls(1, "forced-answer"));
    expect(forced).toMatchObject({ end: "answered", answer: "Oslo" });
  });

  it("counts words and characters of messages and results, and cuts results by them", async () => {
    const words = { scope: "response", unit: "words", limit: 8, onExhausted: "end" };
    expect((await play([SEARCH, SEARCH, ANSWER], words)).turns).toHaveLength(1);
    const cut = { scope: "observation", unit: "characters", limit: 5, onExhausted: "cut" };
    const { calls: made, turns } = await play([SEARCH, ANSWER], cut);
    expect(tokenizer.decode(made[1]?.prompt[0]?.ids ?? [])).toBe(
      "\n\n<information>Doc 1</information>\n\n",
    );
    expect(turns[0]?.observations[0]?.text).toContain("Oslo is the capital");
  });

  it("follows a schedule by the run's progress", async () => {
    const limit = { schedule: "linear", from: 1, to: 3 };
    const budgets = [{ ...calls(1, "end"), limit }];
    const environment = searchEnvironment({ budgets });
    const searches = async (step: number): Promise<number> => {
      const progress = { step, totalSteps: 3 };
      const policy = replay(Array.from({ length: 5 }, () => SEARCH));
      return (await rollOut(rolloutOptions({ policy, environment, progress }))).turns.length;
    };
    expect([await searches(0), await searches(1), await searches(2)]).toEqual([1, 2, 3]);
  });
});

import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { readCounting } from "../../../src/worlds/counting/problems.ts";
import { countingBehaviourSchema, countingPlan } from "../../../src/worlds/counting/teacher.ts";

const problem = readCounting("How many numbers from 10 to 30 does 6 divide?")!;
const first = { printed: null, failed: 0, canRun: true, isAgain: false };

const planned = (behaviour: object = {}, state: object = {}, seed = 1) =>
  countingPlan(
    problem,
    { ...first, ...state },
    countingBehaviourSchema.parse(behaviour),
    random(seed),
  );

const PROGRAM = "print(sum(n % 6 == 0 for n in range(10, 30 + 1)))";
const BY_HAND = "1: 12, 2: 18, 3: 24, 4: 30.";

describe("countingPlan", () => {
  it("writes a program and answers what it printed", () => {
    expect(planned()).toEqual({
      thought: "I use python.",
      action: { tool: "python", input: PROGRAM },
    });
    expect(planned({}, { printed: "4" })).toEqual({
      thought: "So it is 4.",
      action: { tool: "answer", input: "4" },
    });
  });

  it("counts by hand, by behaviour and where nothing runs programs", () => {
    const byHand = { thought: BY_HAND, action: { tool: "answer", input: "4" } };
    expect(planned({ code: 0 })).toEqual(byHand);
    expect(planned({}, { canRun: false })).toEqual(byHand);
  });

  it("counts first or again, by behaviour", () => {
    expect(planned({ late: 1 }).thought).toBe(`${BY_HAND} I use python.`);
    const again = planned({ recheck: 1 }, { printed: "5" });
    expect(again.thought).toBe(`So it is 5. Check: ${BY_HAND} No, it is 4.`);
    expect(again.action.input).toBe("4");
  });

  it("writes again a program that failed, and then rightly by half", () => {
    const failing = planned({ fail: 1 }).action.input;
    expect(failing).toBe(PROGRAM.replace("sum", "su"));
    expect(planned({ fail: 1 }, { failed: 1 }).action.tool).toBe("python");
    expect(planned({ wrong: 1 }).action.input).toBe(PROGRAM.replace(" + 1", ""));
  });

  it("slips at so many values, by leaving one out or by taking another", () => {
    const answers = Array.from(
      { length: 400 },
      (_, seed) => planned({ code: 0, slip: 0.25 }, {}, seed).thought,
    );
    // Four values, each right with a chance of .75: .316 of all.
    const right = answers.filter((each) => each === BY_HAND).length / answers.length;
    expect(Math.abs(right - 0.316)).toBeLessThan(0.07);
    expect(new Set(answers).size).toBeGreaterThan(20);
  });
});

import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { budgetsSchema } from "../../../src/env/budget.ts";
import { noneRetriever } from "../../../src/retrieval/controls/none.ts";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import { openStrategy } from "../../../src/rollout/strategies/named-strategy.ts";
import { exactMatch } from "../../../src/text/answers.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import type { Trajectory } from "../../../src/trajectory/trajectory.ts";
import { environments } from "../../../src/worlds/datasets.ts";
import {
  numberBehaviourSchema,
  numberPlan,
  wordedAnswer,
} from "../../../src/worlds/numbers/number-plan.ts";
import { numberWorld } from "../../../src/worlds/numbers/number-world.ts";
import { numberTeacher } from "../../../src/worlds/numbers/teacher.ts";
import "../../helpers/all-parts.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { scriptedTeacher } from "../../helpers/scripted-teacher.ts";
import { rolloutOptions, searchEnvironment } from "../../helpers/search-world.ts";

/** ( 12 + 5 ) * 3 = 51, also as 12 * 3 + 5 * 3. */
const TASK: Task = {
  id: "t",
  question: "What is ( 12 + 5 ) * 3?",
  references: ["51"],
  source: "test",
  annotations: {
    concepts: ["expression"],
    decomposition: [
      { question: "first", answer: "17", passage: null, expression: "12 + 5" },
      { question: "second", answer: "51", passage: null, expression: "#1 * 3" },
    ],
    routes: [
      [
        { question: "first", answer: "36", passage: null, expression: "12 * 3" },
        { question: "second", answer: "15", passage: null, expression: "5 * 3" },
        { question: "third", answer: "51", passage: null, expression: "#1 + #2" },
      ],
    ],
  },
};

interface Given {
  results?: string[];
  canCall?: boolean;
  seed?: number;
}

function planned(behaviour: object, { results = [], canCall = true, seed = 1 }: Given = {}) {
  const settings = numberBehaviourSchema.parse(behaviour);
  const plan = numberPlan({ task: TASK, results, canCall }, settings, random(seed));
  if (plan === null) throw new Error("no plan");
  return plan;
}

describe("numberPlan", () => {
  it("writes the plain solution", () => {
    expect(planned({})).toEqual({
      lines: ["12 + 5 = 17.", "17 * 3 = 51."],
      call: null,
      answer: "51",
    });
  });

  it("takes another route", () => {
    expect(planned({ otherRoute: 1 }).lines).toEqual([
      "12 * 3 = 36.",
      "5 * 3 = 15.",
      "36 + 15 = 51.",
    ]);
  });

  it("goes on from a slip: the answer follows from what it wrote", () => {
    for (let seed = 0; seed < 50; seed++) {
      const { lines, answer } = planned({ slip: { "+": 1 } }, { seed });
      const [, sum = ""] = /^12 \+ 5 = (\d+)\.$/.exec(lines[0] ?? "") ?? [];
      expect(sum).not.toBe("17");
      expect(lines[1]).toBe(`${sum} * 3 = ${Number(sum) * 3}.`);
      expect(answer).toBe(String(Number(sum) * 3));
    }
  });

  it("slips in the given share of operations", () => {
    const wrong = Array.from({ length: 2000 }, (_, seed) =>
      planned({ slip: 0.2 }, { seed }),
    ).filter(({ lines }) => lines[0] !== "12 + 5 = 17.");
    expect(wrong.length / 2000).toBeGreaterThan(0.17);
    expect(wrong.length / 2000).toBeLessThan(0.23);
  });

  it("checks a step again, and keeps the second result", () => {
    expect(planned({ verify: 1 }).lines.slice(0, 3)).toEqual([
      ...["12 + 5 = 17.", "Check: 12 + 5 = 17.", "Right."],
    ]);
    const mended = Array.from({ length: 200 }, (_, seed) =>
      planned({ verify: 1, slip: { "+": 0.5 } }, { seed }),
    ).find(({ lines }) => lines[0] !== "12 + 5 = 17." && lines[2] === "No, it is 17.");
    expect(mended?.answer).toBe("51");
  });

  it("waits, wanders and changes its mind", () => {
    expect(planned({ wait: 1 }).lines[0]).toBe("Wait.");
    expect(planned({ wander: 1 }).lines[0]).toMatch(
      /^Maybe (12|5|3) [+-] (12|5|3) = \d+ helps\. It does not\.$/,
    );
    const { lines, answer } = planned({ revise: 1 });
    expect(lines.at(-1)).toBe(`Wait, I think it is ${answer}.`);
    expect(answer).not.toBe("51");
  });

  it("writes an answer in other words, and two values in either order", () => {
    const worded = (behaviour: object): Set<string> => {
      const settings = numberBehaviourSchema.parse(behaviour);
      return new Set(Array.from({ length: 200 }, (_, i) => wordedAnswer("5", settings, random(i))));
    };
    expect(worded({})).toEqual(new Set(["5"]));
    expect(worded({ reword: 1 })).toEqual(new Set(["5.", "The answer is 5."]));
    // Off by 1, 2, 10 or 20, and never below 0.
    const near = ["4", "6", "3", "7", "15", "25"];
    expect(worded({ hedge: 1, reword: 1 })).toEqual(
      new Set(near.flatMap((other) => [`5 or ${other}`, `${other} or 5`])),
    );
  });

  it("calls for a step, and goes on with the result that came", () => {
    expect(planned({ call: 1 })).toEqual({
      lines: ["I compute 12 + 5."],
      call: "12 + 5",
      answer: "",
    });
    expect(planned({ call: 1 }, { results: ["18"] })).toEqual({
      lines: ["So it is 18.", "I compute 18 * 3."],
      call: "18 * 3",
      answer: "",
    });
    expect(planned({ call: 1 }, { results: ["18"], canCall: false }).answer).toBe("54");
  });

  it("guesses a number of an impossible problem", () => {
    const task = { ...TASK, annotations: { concepts: ["expression"] } };
    const plan = numberPlan(
      { task, results: [], canCall: true },
      numberBehaviourSchema.parse({}),
      random(1),
    );
    expect(["12", "5", "3"]).toContain(plan?.answer);
  });
});

const budgets = budgetsSchema.parse([
  { scope: "trajectory", unit: "turns", limit: 8, onExhausted: "end" },
]);

async function played(environmentName: string, behaviour: object): Promise<Trajectory[]> {
  const environment = environments
    .get(environmentName, "test")
    .create({}, { retriever: noneRetriever(), budgets });
  const policy = scriptedTeacher(numberTeacher, environment, { behaviour });
  const world = numberWorld({ split: "test" });
  return Promise.all(
    Array.from({ length: 40 }, (_, number) =>
      rollOut(rolloutOptions({ policy, environment, task: world.problem(number), seed: number })),
    ),
  );
}

function exact(trajectories: readonly Trajectory[]): number {
  const world = numberWorld({ split: "test" });
  const scores = trajectories.map(({ answer }, number) =>
    exactMatch(answer ?? "", world.problem(number).references),
  );
  return scores.reduce((sum, score) => sum + score, 0) / scores.length;
}

describe("the number-plan teacher", () => {
  it("answers every problem rightly, in one turn of question answering and with a calculator", async () => {
    const alone = await played("search-qa", { call: 1 });
    expect(exact(alone)).toBe(1);
    expect(alone.every(({ turns }) => turns.length === 1)).toBe(true);
    const called = await played("tool-qa", { call: 1 });
    expect(exact(called)).toBe(1);
    const calls = called.flatMap(({ turns }) => turns.flatMap(({ actions }) => actions));
    expect(calls.filter(({ tool }) => tool === "calculator").length).toBeGreaterThan(100);
    expect(called.flatMap(({ turns }) => turns.flatMap(({ problems }) => problems))).toEqual([]);
  });

  it("answers in plain words in the given share of messages", async () => {
    const plain = await played("tool-qa", { box: 0 });
    expect(plain.every(({ answer }) => answer === null)).toBe(true);
    const half = await played("tool-qa", { box: 0.5 });
    const first =
      half.filter(({ turns: [turn] }) => turn?.actions.length === 1).length / half.length;
    expect(first).toBeGreaterThan(0.3);
    expect(first).toBeLessThan(0.7);
    expect(exact(half)).toBeGreaterThan(0.9);
  });

  it("plays the same for the same seeds", async () => {
    const behaviour = { slip: 0.2, verify: 0.3, call: 0.5, wander: 0.2 };
    expect(await played("tool-qa", behaviour)).toEqual(await played("tool-qa", behaviour));
  });

  it("refuses questions without steps, and strategies with prompts of their own", async () => {
    const environment = searchEnvironment();
    const policy = scriptedTeacher(numberTeacher, environment);
    const options = rolloutOptions({ policy, environment });
    expect((await rollOut(options)).error?.code).toBe("TEACHER_GAVE_UP");
    await expect(openStrategy("cot", "test").run(options)).rejects.toThrow(
      errorWith("TEACHER_CANNOT_PLAY"),
    );
  });
});

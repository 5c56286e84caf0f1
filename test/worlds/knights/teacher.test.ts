import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import { noneRetriever } from "../../../src/retrieval/controls/none.ts";
import { rollOut } from "../../../src/rollout/roll-out.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { environments } from "../../../src/worlds/datasets.ts";
import { openDataset } from "../../../src/worlds/open-dataset.ts";
import {
  knightsBehaviourSchema,
  knightsPlan,
  knightsTeacher,
} from "../../../src/worlds/knights/index.ts";
import { answerText, readPuzzle, solutionsOf } from "../../../src/worlds/knights/puzzle.ts";
import "../../helpers/all-parts.ts";
import { scriptedTeacher } from "../../helpers/scripted-teacher.ts";
import { rolloutOptions } from "../../helpers/search-world.ts";

const QUESTION =
  "Abe says that Abe is a knave or Bea is a knave. Bea says that Abe is a knave. Cid says that Bea is a knave. Who is a knight and who is a knave?";

function planned(behaviour: object = {}, seed = 1, question = QUESTION) {
  const puzzle = readPuzzle(question);
  if (puzzle === null) throw new Error("no puzzle");
  return knightsPlan(puzzle, knightsBehaviourSchema.parse(behaviour), random(seed));
}

const tasks = (options: object) =>
  openDataset({ name: "knights-knaves", questions: 40, people: [3, 6], ...options }, "test").then(
    (each) => each.tasks(),
  );

async function played(task: Task, behaviour: object = {}, intermediateAnswers = true) {
  const environment = environments
    .get("tool-qa", "environment")
    .create(
      { tools: [], protocol: { name: "tags", intermediateAnswers } },
      { retriever: noneRetriever(), budgets: [] },
    );
  const policy = scriptedTeacher(knightsTeacher, environment, { behaviour });
  return rollOut({ ...rolloutOptions({ policy, environment }), task });
}

describe("knightsPlan", () => {
  it("answers person by person, from what is known and one statement", () => {
    expect(planned()?.map(({ thought, action }) => [thought, action.input])).toEqual([
      ["Abe says that Abe is a knave or Bea is a knave.", "Abe is a knight"],
      ["Abe is a knight. Bea says that Abe is a knave.", "Bea is a knave"],
      ["Bea is a knave. Cid says that Bea is a knave.", "Cid is a knight"],
      ["Now all are known.", "Abe is a knight, Bea is a knave, Cid is a knight"],
    ]);
  });

  it("thinks first and answers once, by behaviour", () => {
    const [only, ...others] = planned({ interleave: 0 }) ?? [];
    expect(others).toEqual([]);
    expect(only?.thought).toMatch(
      /^Abe says .* So Abe is a knight\. Abe is a knight\. Bea says .* So Cid is a knight\.$/,
    );
    expect(only?.action.input).toBe("Abe is a knight, Bea is a knave, Cid is a knight");
  });

  it("goes on from a wrong conclusion", () => {
    const [first, , third] = planned({ slip: 1 }) ?? [];
    expect(first?.action.input).toBe("Abe is a knave");
    // Wrong as well, whatever it follows from.
    expect(third?.thought).toMatch(/^Bea is a kn\w+\. Cid says that Bea is a knave\.$/);
  });

  it("guesses a person without a step in half of the cases rightly", () => {
    const seeds = Array.from({ length: 400 }, (_, seed) => planned({ skip: 1 }, seed) ?? []);
    expect(seeds.every(({ length }) => length === 1)).toBe(true);
    const right = seeds.filter(([only]) => only?.action.input.startsWith("Abe is a knight"));
    expect(right.length / 400).toBeGreaterThan(0.4);
    expect(right.length / 400).toBeLessThan(0.6);
  });

  it("has no plan where a case must be assumed", () => {
    const circle = "Abe says that Bea is a knave. Bea says that Abe is a knave.";
    expect(planned({}, 1, circle)).toBeNull();
  });
});

describe("knightsTeacher", () => {
  it("solves every puzzle that can be solved step by step, in both ways", async () => {
    for (const task of await tasks({ stepwise: true })) {
      const puzzle = readPuzzle(task.question);
      const solutions = puzzle === null ? [] : solutionsOf(puzzle).map((each) => answerText(puzzle, each)); // prettier-ignore
      const byPerson = await played(task);
      expect([byPerson.answer]).toEqual(solutions);
      expect(byPerson.turns[0]?.text.match(/<answer>/g)).toHaveLength((puzzle?.names.length ?? 0) + 1); // prettier-ignore
      expect((await played(task, { interleave: 0 }, false)).answer).toBe(byPerson.answer);
    }
  });

  it("gives up on other questions", async () => {
    const [task] = await tasks({ stepwise: true });
    if (task === undefined) throw new Error("no task");
    const { error } = await played({ ...task, question: "Who?" });
    expect(error?.code).toBe("TEACHER_GAVE_UP");
  });
});

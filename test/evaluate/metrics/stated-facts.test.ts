import { expect, it } from "vitest";
import { statedFacts } from "../../../src/evaluate/metrics/stated-facts.ts";
import type { MeasuredDraw } from "../../../src/evaluate/metrics/metric.ts";
import type { Task } from "../../../src/trajectory/task.ts";
import { scoreWith } from "../../helpers/reward-context.ts";
import { madeRow } from "../../helpers/evaluation-rows.ts";
import { answered, task } from "../../helpers/search-world.ts";

const asked: Task = {
  ...task,
  annotations: {
    decomposition: [
      { question: "birthplace of Ibsen", answer: "Skien", passage: null },
      { question: "mayor of #1", answer: "Vavin", passage: null },
    ],
  },
};

const of = (text: string, about: Task = asked): MeasuredDraw => {
  const turn = { call: 0, text, actions: [], problems: [], observations: [] };
  return { task: about, trajectory: answered("x", { turns: [turn] }), row: madeRow("a", 1) };
};

it("counts the sentences of the thought that state a step with its answer", async () => {
  const draws = [
    of("<think> The birthplace of Ibsen is Skien. The mayor of Skien is Vavin.</think><answer>"),
    of("<think> The birthplace of Ibsen is Skien. The mayor of Skien is Oslo.</think>"),
    of("<think> The mayor of Oslo is Vavin. Skien. I know.</think> The mayor of Skien is Vavin."),
    of("<answer> Skien</answer>"),
    of("<think> The mayor of Skien is Vavin.</think>", task),
  ];
  expect(await scoreWith(statedFacts, draws)).toEqual([1, 0.5, 0, 0, null]);
});

import { expect, it } from "vitest";
import { behaviourSchema } from "../../../src/synth/teachers/behaviour.ts";
import { briefPlan } from "../../../src/synth/teachers/brief-plan.ts";
import { task } from "../../helpers/search-world.ts";

const decomposition = [
  { question: "birthplace of Ibsen", answer: "Skien", passage: null },
  { question: "mayor of Skien", answer: "Vavin", passage: null },
];
const asked = { ...task, annotations: { type: "bridge", decomposition } };

it("states each remembered fact in a sentence where its behaviour says so, right or wrong", () => {
  const remembered = ["Skien", "Oslo"];
  const plan = (state?: number) =>
    briefPlan({ task: asked, turns: [], remembered }, behaviourSchema.parse({ state }), 1);
  expect(plan(1)).toEqual({
    thought: "The birthplace of Ibsen is Skien. The mayor of Skien is Oslo.",
    action: { tool: "answer", input: "Oslo" },
  });
  const plain = "I know this the birthplace of Ibsen is Skien the mayor of Skien is Oslo";
  expect(plan().thought).toBe(plain);
});

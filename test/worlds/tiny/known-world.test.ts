import { describe, expect, it } from "vitest";
import { knownWorld, misremembered, rememberedSteps } from "../../../src/worlds/tiny/tiny-world.ts";

const tasks = [...knownWorld().questions(200)];

describe("rememberedSteps", () => {
  it("is every step's answer of a chain where nothing is misremembered, and null of other questions", () => {
    for (const task of tasks) {
      const { type, decomposition = [] } = task.annotations;
      const right = type === "bridge" ? decomposition.map(({ answer }) => answer) : null;
      expect(rememberedSteps(task, 0)).toEqual(right);
    }
  });

  it("ends with the wrong answer of a misremembered entity, and is null where an earlier step is wrong", () => {
    const chains = tasks.filter(({ annotations }) => annotations.type === "bridge");
    for (const task of chains) {
      const steps = rememberedSteps(task, 0.3);
      const [right = ""] = task.references;
      if (steps !== null) expect(steps.at(-1)).toBe(misremembered(task, 0.3) ?? right);
    }
    const all = chains.map((task) => rememberedSteps(task, 1));
    const single = chains.map(({ annotations }) => annotations.hops === 1);
    expect(all.map((steps) => steps !== null)).toEqual(single);
  });
});

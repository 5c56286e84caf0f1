import { describe, expect, it } from "vitest";
import { INVERSE_TEMPERATURE, trainingGraph } from "../../../src/engine/local/training-graph.ts";
import { temperatureField } from "../../../src/engine/engine.ts";
import { tinyConfig } from "../../helpers/tiny-model.ts";

const shape = { tokens: 14, batch: 2, length: 8, scored: 10 };
const loss = { name: "policy-gradient", options: { klCoef: 0.1 } };
const count = (goal: typeof loss | "logprobs", tempered: boolean): [number, boolean] => {
  const { graph } = trainingGraph(tinyConfig, shape, goal, { tempered });
  return [graph.nodes.length, graph.inputs.some(({ name }) => name === INVERSE_TEMPERATURE)];
};

describe("the graph of log-probabilities at a temperature", () => {
  it("has one product more than at temperature 1, and two more for its gradient", () => {
    const [plain, own] = count("logprobs", false);
    expect(own).toBe(false);
    expect(count("logprobs", true)).toEqual([plain + 1, true]);
    const [learns] = count(loss, false);
    expect(count(loss, true)).toEqual([learns + 3, true]);
  });

  it("is asked for by rows alone that have another temperature than 1", () => {
    expect(temperatureField([1, 1])).toEqual({});
    expect(temperatureField([1, 0.7])).toEqual({ temperatures: [1, 0.7] });
  });
});

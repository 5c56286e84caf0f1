import { describe, expect, it } from "vitest";
import { allComposites, allOps } from "../../src/autodiff/ops/index.ts";
import { Graph, type Op, type OpExample } from "../../src/autodiff/graph.ts";
import { checkGradient, type CheckedInput } from "../helpers/gradient-check.ts";
import { INDEXED } from "../helpers/indexed-operators.ts";

const named = allOps.map((op) => [op.name, op] as const);
const differentiable = named.filter(([, op]) => op.examples.length > 0);
const constant = named.filter(([, op]) => op.examples.length === 0);

describe("every operator's derivative", () => {
  it.each(differentiable)("of %s agrees with central differences", async (_, op) => {
    for (const example of op.examples) {
      const { relativeError, compared } = await check(op, example);
      expect(compared).toBeGreaterThan(0);
      expect(relativeError).toBeLessThan(1e-3);
    }
  });

  // Its outcome is integer or boolean, or the derivative is cut on purpose: an operator with a derivative must have an example.
  it.each(constant)("of %s, which has no example to check, is never passed on", (_, op) => {
    const graph = new Graph();
    const inputs = ["a", "b"].map((name) => graph.input(name, "float32", [2]));
    const [x] = inputs;
    const cotangents = op.vjp({
      inputs,
      outputs: [x!],
      cotangents: [x!],
      attributes: {},
      needed: [true],
    });
    expect(new Set(cotangents)).toEqual(new Set([null]));
  });

  it.each(allComposites)(
    "of the composite %s agrees with central differences",
    async (_, composite) => {
      expect(composite.examples.length).toBeGreaterThan(0);
      for (const example of composite.examples) {
        const inputs = example.inputs.map((input): CheckedInput =>
          "ints" in input ? { ...input, intType: "int32" } : input,
        );
        const { relativeError } = await checkGradient(inputs, (values) => composite(...values));
        expect(relativeError).toBeLessThan(1e-3);
      }
    },
  );

  it("fails the check when it is wrong", async () => {
    const wrong: Op = {
      ...allOps.find((op) => op.name === "Exp")!,
      vjp: ({ cotangents: [dy] }) => [dy!],
    };
    const { relativeError } = await check(wrong, wrong.examples[0]!);
    expect(relativeError).toBeGreaterThan(0.1);
  });
});

function check(op: Op, example: OpExample): Promise<{ relativeError: number; compared: number }> {
  const inputs = example.inputs.map((input): CheckedInput => {
    const intType = INDEXED[op.name];
    return intType !== undefined && "ints" in input ? { ...input, intType } : input;
  });
  return checkGradient(
    inputs,
    (values) => values[0]!.graph.apply(op, values, example.attributes)[0]!,
    example.float32Only === true ? "float32" : "float64",
  );
}

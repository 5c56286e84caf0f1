import { describe, expect, it } from "vitest";
import { allComposites, allOps } from "../../src/autodiff/ops/index.ts";
import type { Op, OpExample } from "../../src/autodiff/graph.ts";
import { checkGradient, type CheckedInput } from "../helpers/gradient-check.ts";
import { INDEXED } from "../helpers/indexed-operators.ts";

/** Outcome is integer or boolean, or the derivative is cut on purpose. */
const WITHOUT_DERIVATIVE = new Set([
  ...["Sign", "Identity", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And"],
  ...["ReduceMax", "BitCast"],
]);
describe("every operator's derivative", () => {
  it.each(allOps.map((op) => [op.name, op] as const))(
    "of %s agrees with central differences",
    async (name, op) => {
      if (WITHOUT_DERIVATIVE.has(name)) {
        expect(op.examples).toEqual([]);
        return;
      }
      expect(op.examples.length).toBeGreaterThan(0);
      for (const example of op.examples) {
        const { relativeError, compared } = await check(op, example);
        expect(compared).toBeGreaterThan(0);
        expect(relativeError).toBeLessThan(1e-3);
      }
    },
  );

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

import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { adamLoops, adamRoom } from "../../src/autodiff/adam-loops.ts";
import { adamFactors, type AdamOptions } from "../../src/autodiff/adamw.ts";

interface Run {
  parameters: number[][];
  norms: number[];
}

const golden = JSON.parse(readFileSync("test/golden/adamw.json", "utf8")) as {
  settings: AdamOptions;
  decays: number;
  start: number[];
  gradients: number[][];
  float64: Run;
  fused: Run;
};

/** All steps by our loops, from fresh moments. */
function ours(): Run {
  const size = golden.start.length;
  const { memory, arrays } = adamRoom([size, size, size, size]);
  const [parameters, gradients, mean, square] = arrays as readonly [
    ...[Float32Array, Float32Array],
    ...[Float32Array, Float32Array],
  ];
  const loops = adamLoops(memory);
  parameters.set(golden.start);
  const run: Run = { parameters: [], norms: [] };
  golden.gradients.forEach((each, i) => {
    gradients.set(each);
    const norm = Math.sqrt(loops.squares(gradients));
    const factors = adamFactors(golden.settings, i + 1, norm);
    const range = { from: 0, to: size, decays: golden.decays };
    loops.step({ parameters, gradients, mean, square }, range, factors);
    run.norms.push(norm);
    run.parameters.push([...parameters]);
  });
  return run;
}

/** The largest difference of parameters after the last step, in steps of a learning rate. */
function furthest(some: Run, others: Run): number {
  const [last, other] = [some.parameters.at(-1)!, others.parameters.at(-1)!];
  const differences = last.map((p, i) => Math.abs(p - other[i]!));
  return Math.max(...differences) / golden.settings.learningRate;
}

describe("AdamW's loops and torch's AdamW, eight clipped steps", () => {
  it("differ by millionths of a step from torch in float64", () => {
    const found = ours();
    expect(furthest(found, golden.float64)).toBeLessThan(4e-6);
    found.norms.forEach((norm, i) => {
      expect(Math.abs(norm / golden.float64.norms[i]! - 1)).toBeLessThan(1e-12);
    });
  });

  it("differ no more than torch's own float32 kernel does", () => {
    expect(furthest(golden.fused, golden.float64)).toBeGreaterThan(furthest(ours(), golden.float64));
  });
});

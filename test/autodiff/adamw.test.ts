import { describe, expect, it } from "vitest";
import {
  adamFactorNames,
  adamFactors,
  adamW,
  squaredNorm,
  type AdamFactors,
  type AdamState,
} from "../../src/autodiff/adamw.ts";
import { adamLoops, adamRoom } from "../../src/autodiff/adam-loops.ts";
import { Graph, type Value } from "../../src/autodiff/graph.ts";
import { createSession, floats, tensorOf, type Tensor } from "../../src/onnx/session.ts";
import { expectClose } from "../helpers/expect-close.ts";

const options = { learningRate: 0.1, beta1: 0.9, beta2: 0.99, epsilon: 1e-8, weightDecay: 0.1 };

/** A matrix of two numbers, which decays, and a vector of one, which does not. */
const shapes = { matrix: [1, 2], vector: [1] };
const names = ["matrix", "vector"] as const;
type Numbers = Record<keyof typeof shapes, number[]>;
type Run = (
  start: Numbers,
  steps: readonly Numbers[],
  gradClipNorm: number,
  changed?: Partial<typeof options>,
) => Promise<(Numbers & { norm: number })[]>;

/** Steps one after the other from fresh moments, over one flat array. @returns parameters and norm after each. */
const runLoop: Run = (start, steps, gradClipNorm, changed) => {
  const { memory, arrays: all } = adamRoom([3, 3, 3, 3]);
  const [parameters, gradients, mean, square] = all as readonly [
    ...[Float32Array, Float32Array],
    ...[Float32Array, Float32Array],
  ];
  const loops = adamLoops(memory);
  parameters.set([...start.matrix, ...start.vector]);
  const after = steps.map((each, i) => {
    gradients.set([...each.matrix, ...each.vector]);
    const norm = Math.sqrt(loops.squares(gradients));
    const factors = adamFactors({ ...options, ...changed, gradClipNorm }, i + 1, norm);
    const arrays = { parameters, gradients, mean, square };
    // Two ranges, as two workers step them.
    loops.step(arrays, { from: 0, to: 1, decays: 2 }, factors);
    loops.step(arrays, { from: 1, to: 3, decays: 2 }, factors);
    const [one, two, three] = parameters;
    return { matrix: [one!, two!], vector: [three!], norm };
  });
  return Promise.resolve(after);
};

/** The same as graphs. */
const runGraph: Run = async (start, steps, gradClipNorm, changed) => {
  const graph = new Graph();
  const factors = Object.fromEntries(
    adamFactorNames.map((name) => [name, graph.input(name, "float32", [1])]),
  ) as unknown as AdamFactors<Value>;
  const states = names.map((name): AdamState => {
    const input = (kind: string): Value => graph.input(`${name}.${kind}`, "float32", shapes[name]);
    return {
      parameter: input("parameter"),
      gradient: input("gradient"),
      mean: input("mean"),
      square: input("square"),
      decays: name === "matrix",
    };
  });
  const outputs: Record<string, Value> = {};
  adamW(states, factors).forEach((next, i) => {
    for (const [kind, value] of Object.entries(next)) outputs[`${names[i]!}.${kind}.next`] = value;
  });
  const threads = { threads: 1 };
  const update = await createSession(graph, outputs, threads);
  const squared = squaredNorm(states.map(({ gradient }) => gradient));
  const norms = await createSession(graph, { squared }, threads);
  let state: Record<string, Tensor> = {};
  for (const name of names) {
    const tensor = (numbers: readonly number[]): Tensor =>
      tensorOf(Float32Array.from(numbers), shapes[name]);
    state[`${name}.parameter`] = tensor(start[name]);
    state[`${name}.mean`] = tensor(start[name].map(() => 0));
    state[`${name}.square`] = tensor(start[name].map(() => 0));
  }
  const after: (Numbers & { norm: number })[] = [];
  for (const [i, gradients] of steps.entries()) {
    const feeds: Record<string, Tensor> = { ...state };
    for (const name of names) {
      feeds[`${name}.gradient`] = tensorOf(Float32Array.from(gradients[name]), shapes[name]);
    }
    const norm = Math.sqrt(floats((await norms.run(feeds))["squared"]!)[0]!);
    const numbers = adamFactors({ ...options, ...changed, gradClipNorm }, i + 1, norm);
    for (const name of adamFactorNames) feeds[name] = tensorOf(Float32Array.of(numbers[name]), [1]);
    const results = await update.run(feeds);
    state = Object.fromEntries(
      Object.entries(results).map(([name, tensor]) => [name.replace(/\.next$/, ""), tensor]),
    );
    const found = (name: string): number[] => [...floats(results[`${name}.parameter.next`]!)];
    after.push({ matrix: found("matrix"), vector: found("vector"), norm });
  }
  await update.release();
  await norms.release();
  return after;
};

describe.each([
  ["a loop over arrays", runLoop],
  ["a graph", runGraph],
])("AdamW as %s", (_, run) => {
  it("takes two steps as worked out by hand, clipped in the first", async () => {
    const start = { matrix: [1, 2], vector: [0.5] };
    const steps = [
      { matrix: [3, 0], vector: [4] },
      { matrix: [0.3, 0.4], vector: [0] },
    ];
    const [first, second] = await run(start, steps, 1);
    // Step 1. The norm is √(9 + 16) = 5, so gradients become .6, 0 and .8. At t = 1 the corrected moments are g and g²: the
    // direction is the sign. Decay .1 on the matrix: 1 − .1 (1 + .1), 2 − .1 (0 + .2), .5 − .1 · 1.
    expect(first!.norm).toBeCloseTo(5, 5);
    expectClose(first!.matrix, [0.89, 1.98], { atol: 1e-5 });
    expectClose(first!.vector, [0.4], { atol: 1e-5 });
    // Step 2. Norm .5, not clipped. m = .084, .04, .072 over .19; v = .004464, .0016, .006336 over .0199.
    // m̂ = .442105, .210526, .378947; √v̂ = .473626, .283552, .564262; directions .933447, .742460, .671580.
    // .89 − .1 (.933447 + .089), 1.98 − .1 (.742460 + .198), .4 − .1 · .671580
    expect(second!.norm).toBeCloseTo(0.5, 5);
    expectClose(second!.matrix, [0.787755, 1.885954], { atol: 1e-5 });
    expectClose(second!.vector, [0.332842], { atol: 1e-5 });
  });

  it("does not clip at infinity", async () => {
    // Gradients of 3 and 4 against .6 and .8: the direction is the same sign, the second step tells them apart.
    const start = { matrix: [1, 2], vector: [0.5] };
    const steps = [
      { matrix: [3, 0], vector: [4] },
      { matrix: [-3, 0], vector: [-4] },
    ];
    const [, free] = await run(start, steps, Infinity);
    // m = .27 − .3 = −.03 over .19, v = .0891 + .09 = .1791 over .0199: −.157895 / 3 = −.052632.
    // .89 − .1 (−.052632 + .089), .4 + .1 · .052632
    expectClose(free!.matrix.slice(0, 1), [0.886363], { atol: 1e-5 });
    expectClose(free!.vector, [0.405263], { atol: 1e-5 });
  });

  it("only decays where nothing flows", async () => {
    const nothing = { matrix: [0, 0], vector: [0] };
    const [after] = await run({ matrix: [1, 2], vector: [0.5] }, [nothing], 1);
    expectClose(after!.matrix, [0.99, 1.98]);
    expectClose(after!.vector, [0.5]);
    expect(after!.norm).toBe(0);
  });

  it("loses no decay that is below the rounding of 1 − learning rate · decay", async () => {
    // A step of 17.4 units of the numbers below 1, and .4 units of decay: 1 − .4 units is 1 in float32.
    const unit = 2 ** -24;
    const changed = { learningRate: 17.4 * unit, weightDecay: 0.4 / 17.4 };
    const ones = { matrix: [1, 1], vector: [1] };
    const [after] = await run(ones, [ones], Infinity, changed);
    const moved = [...after!.matrix, ...after!.vector].map((p) => (1 - p) / unit);
    expect(moved).toEqual([18, 18, 17]);
  });
});

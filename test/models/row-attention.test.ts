import { describe, expect, it } from "vitest";
import { backward } from "../../src/autodiff/backward.ts";
import { Graph, type Value } from "../../src/autodiff/graph.ts";
import { mul } from "../../src/autodiff/ops/elementwise.ts";
import { reduceSum } from "../../src/autodiff/ops/reduce.ts";
import { random } from "../../src/base/random.ts";
import { plainFeatures, type DecoderConfig } from "../../src/models/config.ts";
import { causalMasks, stepsOf } from "../../src/models/decoder.ts";
import { attendRows, blockPlan, queryBlocks } from "../../src/models/row-attention.ts";
import { createSession, floats, tensorOf, zeros } from "../../src/onnx/session.ts";
import { expectClose } from "../helpers/expect-close.ts";

const config: DecoderConfig = {
  ...plainFeatures,
  architecture: "llama",
  vocabSize: 8,
  hiddenSize: 12,
  layers: 1,
  heads: 4,
  kvHeads: 2,
  headDim: 3,
  intermediateSize: 8,
  normEpsilon: 1e-5,
  ropeTheta: 100,
  tiedEmbeddings: true,
  maxPositions: 512,
};
const batch = 2;
const widths = { q: 12, k: 6, v: 6, cotangent: 12 };
type Name = keyof typeof widths;
const names = Object.keys(widths) as Name[];

function numbers(name: Name, length: number): Float32Array {
  const draw = random(name);
  return Float32Array.from({ length: batch * length * widths[name] }, () => draw.normal());
}

function windowed(size: number): DecoderConfig {
  return { ...config, slidingWindow: { size, fromLayer: 0 } };
}

/** The result, and the gradients of Σ result · cotangent. @param inBlocks false: one block of all queries and keys. */
async function attended(
  length: number,
  window: number,
  inBlocks: boolean,
): Promise<Record<string, Float32Array>> {
  const graph = new Graph();
  const ids = graph.input("ids", "int32", [batch, length]);
  const given = Object.fromEntries(
    names.map((name) => [name, graph.input(name, "float32", [batch * length, widths[name]])]),
  ) as Record<Name, Value>;
  const masks = causalMasks(stepsOf(ids, length));
  const blocks = inBlocks
    ? queryBlocks(masks, length, blockPlan(windowed(window), length))(window)
    : [{ first: 0, mask: masks(window) }];
  const result = attendRows(config, { batch, length }, blocks, given);
  const loss = reduceSum(mul([result, given.cotangent]), [0, 1]);
  const [dq, dk, dv] = backward(loss, [given.q, given.k, given.v]) as [Value, Value, Value];
  const session = await createSession(graph, { result, dq, dk, dv }, { threads: 1 });
  const feeds = Object.fromEntries(
    names.map((name) => [name, tensorOf(numbers(name, length), given[name].shape)]),
  );
  const made = await session.run({ ...feeds, ids: zeros("int32", [batch, length]) });
  await session.release();
  return Object.fromEntries(Object.entries(made).map(([name, each]) => [name, floats(each)]));
}

/** Attention by loops, in float64. */
function byLoops(length: number, window: number): Float32Array {
  const [q, k, v] = [numbers("q", length), numbers("k", length), numbers("v", length)];
  const { heads, kvHeads, headDim } = config;
  const result = new Float32Array(q.length);
  for (let row = 0; row < batch; row++) {
    for (let t = 0; t < length; t++) {
      for (let head = 0; head < heads; head++) {
        const group = Math.floor(head / (heads / kvHeads));
        const at = ((row * length + t) * heads + head) * headDim;
        const other = (s: number): number => ((row * length + s) * kvHeads + group) * headDim;
        const seen = Array.from({ length: t + 1 }, (_, s) => s).filter((s) => t - s < window);
        const weights = seen.map((s) => {
          let dot = 0;
          for (let i = 0; i < headDim; i++) dot += q[at + i]! * k[other(s) + i]!;
          return Math.exp(dot / Math.sqrt(headDim));
        });
        const total = weights.reduce((sum, each) => sum + each, 0);
        for (let i = 0; i < headDim; i++) {
          const mixed = seen.reduce((sum, s, n) => sum + weights[n]! * v[other(s) + i]!, 0);
          result[at + i] = mixed / total;
        }
      }
    }
  }
  return result;
}

describe("attention in blocks of queries", () => {
  it.each([
    { length: 32, window: 32, blocks: 1 },
    { length: 96, window: 96, blocks: 2 },
    { length: 160, window: 40, blocks: 4 },
    { length: 384, window: 1000, blocks: 4 },
    { length: 384, window: 130, blocks: 4 },
  ])(
    "equals loops, and its gradients one block's: $length tokens, window $window",
    async (each) => {
      const { length, window, blocks } = each;
      const graph = new Graph();
      const masks = causalMasks(graph.input("steps", "float32", [length]));
      const plan = blockPlan(windowed(window), length);
      expect(queryBlocks(masks, length, plan)(window)).toHaveLength(blocks);
      const found = await attended(length, window, true);
      expectClose(found["result"]!, byLoops(length, window), { atol: 1e-5, rtol: 1e-5 });
      const whole = await attended(length, window, false);
      for (const name of ["dq", "dk", "dv"])
        expectClose(found[name]!, whole[name]!, { atol: 2e-5 });
    },
  );

  it("computes no scores of blocks before the window", () => {
    const graph = new Graph();
    const masks = causalMasks(graph.input("steps", "float32", [384]));
    const blocks = queryBlocks(masks, 384, blockPlan(windowed(100), 384))(100);
    const shapes = blocks.map(({ first, mask }) => [first, ...mask.shape]);
    expect(shapes).toEqual([
      [0, 96, 96],
      [0, 96, 192],
      [0, 96, 288],
      [1, 96, 288],
    ]);
  });
});

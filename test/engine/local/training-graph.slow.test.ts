import { describe, expect, it } from "vitest";
import type { DType } from "../../../src/autodiff/graph.ts";
import { givenAs } from "../../../src/autodiff/graph.ts";
import { floatToHalf, halfToFloat } from "../../../src/base/half.ts";
import { random } from "../../../src/base/random.ts";
import {
  TREE,
  trainingGraph,
  type TrainingGraphOptions,
} from "../../../src/engine/local/training-graph.ts";
import type { LossSpec } from "../../../src/losses/loss.ts";
import type { DecoderConfig } from "../../../src/models/config.ts";
import { type LoraConfig } from "../../../src/models/lora/lora.ts";
import { targetModules } from "../../../src/models/lora/target-modules.ts";
import { createSession, floats, zeros, type Tensor } from "../../../src/onnx/session.ts";
import { expectClose } from "../../helpers/expect-close.ts";
import { tinyConfig } from "../../helpers/tiny-model.ts";

const shape = { tokens: 36, batch: 2, length: 18, scored: 35 };
const crossEntropy: LossSpec = { name: "cross-entropy", options: {} };
const clipped: LossSpec = { name: "policy-gradient", options: { entropyCoef: 0.1, klCoef: 0.2 } };

/** An element of an integer input: two rows of 18 tokens that share nothing. */
function whole(name: string, i: number, drawn: () => number): number {
  if (name === TREE.positions) return i % 18;
  return name.startsWith("tree.") || name === TREE.scored ? i : drawn();
}

/** A graph's input of small random numbers, the same for the same name, as are a matrix and its transpose. */
function filled(name: string, dtype: string, dims: readonly number[]): Tensor {
  const stored = givenAs(name).replace(/\.transposed$/, "");
  const draw = random(stored);
  const tensor = zeros(dtype as DType, dims);
  const numbers = Array.from({ length: tensor.size }, (_, i) =>
    dtype === "int32" ? whole(name, i, () => draw.int(40)) : 0.3 * draw.normal(),
  );
  if (name.endsWith(".transposed")) {
    const [columns, rows] = dims as readonly [number, number];
    const source = numbers.slice();
    source.forEach((each, i) => (numbers[(i % columns) * rows + Math.floor(i / columns)] = each));
  }
  const matrix = isFrozen(stored, dims);
  if (dtype === "float16") (tensor.data as Uint16Array).set(numbers.map(floatToHalf));
  else floats(tensor).set(matrix ? numbers.map((each) => halfToFloat(floatToHalf(each))) : numbers);
  return tensor;
}

/** Whether adapters leave a tensor as it is, so that it may be held in 16 bits: here it then has no more of them in float32. */
function isFrozen(name: string, dims: readonly number[]): boolean {
  return /^(model|lm_head)\./.test(name) && dims.length === 2 && !name.includes("lora");
}

async function results(
  config: DecoderConfig,
  loss: LossSpec | "logprobs",
  options: TrainingGraphOptions,
): Promise<Map<string, Float32Array>> {
  const { graph, outputs } = trainingGraph(config, shape, loss, options);
  const session = await createSession(graph, outputs, { threads: 1 });
  const feeds = Object.fromEntries(
    graph.inputs.map(({ name, dtype, shape: dims }) => [name, filled(name, dtype, dims)]),
  );
  const made = await session.run(feeds);
  await session.release();
  return new Map(Object.entries(made).map(([name, tensor]) => [name, floats(tensor)]));
}

/** The largest ‖a − b‖ / ‖b‖ over all outputs. */
function worstGap(a: Map<string, Float32Array>, b: Map<string, Float32Array>): number {
  expect([...a.keys()]).toEqual([...b.keys()]);
  const norm = (x: Float32Array): number => Math.hypot(...x);
  return Math.max(
    ...[...b].map(
      ([name, expected]) =>
        norm(expected.map((each, i) => a.get(name)![i]! - each)) / norm(expected),
    ),
  );
}

const lora: LoraConfig = { rank: 3, alpha: 6, rslora: false, targets: targetModules };
const window = { slidingWindow: { size: 4, fromLayer: 1 } };
const models: [string, Partial<DecoderConfig>, LoraConfig | null][] = [
  ["biases, tied", {}, null],
  ["an output matrix of its own", { tiedEmbeddings: false }, null],
  ["norms over heads and a window", { qkvBias: false, qkNorm: true, ...window }, null],
  ["adapters on every linear layer", { layers: 3 }, lora],
  ["adapters on some", { tiedEmbeddings: false }, { ...lora, targets: ["q_proj", "down_proj"] }],
];

describe("a training graph", () => {
  it.each(models)("gives the same with layers computed again: %s", async (_, features, lora) => {
    const config = { ...tinyConfig, ...features };
    const plain = await results(config, clipped, { lora });
    for (const recompute of [true, "selective"] as const) {
      const again = await results(config, clipped, { lora, recompute });
      expect(worstGap(again, plain)).toBeLessThan(1e-6);
    }
  });

  it.each(models)("gives the same with scores in chunks: %s", async (_, features, lora) => {
    const config = { ...tinyConfig, ...features };
    for (const loss of [crossEntropy, clipped, "logprobs"] as const) {
      const plain = await results(config, loss, { lora });
      // 35 targets: 7 pieces of 5; 12, 12 and 11; one by one where not even one row fits. With a trained head, of 32 at least: 18 and 17.
      for (const rows of [5, 12, 0]) {
        const scoresBytes = 4 * config.vocabSize * rows + 1;
        const cut = await results(config, loss, { lora, recompute: loss === clipped, scoresBytes });
        expect(worstGap(cut, plain)).toBeLessThan(1e-5);
      }
    }
  });

  it.each(models.filter(([, , lora]) => lora !== null))(
    "gives the same with frozen weights in float16, scored by stretches of the vocabulary or whole: %s",
    async (_, features, lora) => {
      const config = { ...tinyConfig, ...features };
      for (const loss of [clipped, "logprobs"] as const) {
        const plain = await results(config, loss, { lora });
        // 300 rows of the head: whole; three stretches of 100; of 35 targets' scores 16 stretches of 19, the last one shorter.
        for (const scoresBytes of [1e9, 2 * 4 * 35 * 149, 2 * 4 * 35 * 19]) {
          const frozen = { transposed: false, frozen: "float16", scoresBytes } as const;
          const options = { lora, recompute: loss === clipped, ...frozen };
          expect(worstGap(await results(config, loss, options), plain)).toBeLessThan(1e-5);
        }
      }
    },
  );

  it("has entropies only where the loss asks for them, and the metrics of the loss", async () => {
    const config = tinyConfig;
    const small = { scoresBytes: 4 * config.vocabSize * 4, lora };
    const { graph } = trainingGraph(config, shape, crossEntropy, small);
    expect(graph.nodes.filter(({ op }) => op.name === "Split")).toHaveLength(2);
    const made = await results(config, clipped, small);
    expectClose(
      made.get("metric.losses/entropy")!,
      (await results(config, clipped, { lora })).get("metric.losses/entropy")!,
    );
  });
});

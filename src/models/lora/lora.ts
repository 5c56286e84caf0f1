import { scalarLike, type Value } from "../../autodiff/graph.ts";
import { add, mul } from "../../autodiff/ops/elementwise.ts";
import { gemm } from "../../autodiff/ops/linear.ts";
import { random } from "../../base/random.ts";
import type { DecoderConfig } from "../config.ts";
import {
  parameterSpecs,
  tensorsOf,
  totalSize,
  VALUE_HEAD,
  type ParameterSpec,
} from "../parameters.ts";
import { targetModules } from "./target-modules.ts";

/**
 * Low-rank adapters (Hu et al., arXiv 2106.09685): W x becomes W x + scale · B (A x), and only A and B are trained. The scale is
 * alpha / rank, or with `rslora` alpha / √rank (Kalajdzievski, arXiv 2312.03732).
 */
export interface LoraConfig {
  rank: number;
  alpha: number;
  rslora: boolean;
  /** In PEFT's form: a layer's path, or its end after a dot: `q_proj`, `layers.0.mlp.up_proj`. */
  targets: readonly string[];
  /** A critic's value head, trained whole with the adapters and kept apart from their files. Absent: none. */
  valueHead?: true;
}

export interface Adapter {
  lora: LoraConfig;
  /** All A and B in the order of `loraSpecs`, float32. */
  weights: Float32Array;
}

/** The factor of B A x. */
export function loraScale({ rank, alpha, rslora }: LoraConfig): number {
  return alpha / (rslora ? Math.sqrt(rank) : rank);
}

/** The linear layers that a target matches. @param weights names of tensors, `….q_proj.weight`. */
export function layersOf(target: string, weights: readonly string[]): string[] {
  return weights.filter((name) => `.${name}`.endsWith(`.${target}.weight`));
}

/** Weight specs of all linear layers that may have adapters. */
export function linearSpecs(config: DecoderConfig): ParameterSpec[] {
  return parameterSpecs(config).filter(({ name }) =>
    targetModules.some((target) => name.endsWith(`.${target}.weight`)),
  );
}

/** Names of a layer's A and B. @param weight the layer's own tensor, `….q_proj.weight`. */
function loraNames(weight: string): { a: string; b: string } {
  const module = weight.slice(0, -".weight".length);
  return { a: `${module}.lora_A.weight`, b: `${module}.lora_B.weight` };
}

/** Every A [r, in] and B [out, r], layer by layer, A before B; then the value head, if any. */
export function loraSpecs(
  config: DecoderConfig,
  { rank, targets, valueHead }: LoraConfig,
): ParameterSpec[] {
  const head = { name: VALUE_HEAD, shape: [1, config.hiddenSize], decays: true };
  const adapters = linearSpecs(config)
    .filter(({ name }) => targets.some((target) => layersOf(target, [name]).length > 0))
    .flatMap(({ name, shape }) => {
      const { a, b } = loraNames(name);
      const [out, from] = shape as readonly [number, number];
      return [
        { name: a, shape: [rank, from], decays: true },
        { name: b, shape: [out, rank], decays: true },
      ];
    });
  return valueHead === true ? [...adapters, head] : adapters;
}

/** The trained parameters: the adapters, or without adapters all parameters. */
export function trainedSpecs(config: DecoderConfig, lora: LoraConfig | null): ParameterSpec[] {
  return lora === null ? parameterSpecs(config) : loraSpecs(config, lora);
}

/**
 * New adapters, which have no effect yet: B is zero, A uniform within ±1/√in (equal to PEFT's Kaiming initialisation).
 * @param seed the same seed gives the same bytes.
 */
export function initialAdapter(config: DecoderConfig, lora: LoraConfig, seed: number): Adapter {
  const specs = loraSpecs(config, lora);
  const weights = new Float32Array(totalSize(specs));
  const stream = random(seed).derive("lora");
  for (const { name, shape, data } of tensorsOf(specs, weights)) {
    if (!name.endsWith(".lora_A.weight")) continue;
    const draw = stream.derive(name);
    const bound = 1 / Math.sqrt(shape[1]!);
    for (let i = 0; i < data.length; i++) data[i] = bound * (2 * draw.next() - 1);
  }
  return { lora, weights };
}

/** The same adapters with a value head, which begins at 0 where they have none, or without one. */
export function withValueHead(
  config: DecoderConfig,
  { lora: { valueHead: _, ...plain }, weights }: Adapter,
  wanted: boolean,
): Adapter {
  const lora: LoraConfig = wanted ? { ...plain, valueHead: true } : plain;
  const sized = new Float32Array(totalSize(loraSpecs(config, lora)));
  // The value head is the last.
  sized.set(weights.subarray(0, sized.length));
  return { lora, weights: sized };
}

/** Adds the adapter's output to a linear layer's result; unchanged when the layer has no adapter. */
export function withAdapter(
  lora: LoraConfig | null,
  weight: string,
  given: {
    x: Value;
    product: Value;
    /** The graph's input with this name and shape. */
    at: (name: string, shape: readonly number[]) => Value;
  },
): Value {
  if (!lora?.targets.some((target) => layersOf(target, [weight]).length > 0)) return given.product;
  const { x, product, at } = given;
  const names = loraNames(weight);
  const a = at(names.a, [lora.rank, x.shape.at(-1)!]);
  const b = at(names.b, [product.shape.at(-1)!, lora.rank]);
  // [N, in] → [N, r] → [N, out]; the scale applies to the smallest of them.
  const inner = gemm([x, a], { transB: 1 });
  const scaled = mul([inner, scalarLike(inner, loraScale(lora))]);
  return add([product, gemm([scaled, b], { transB: 1 })]);
}

/**
 * Adds scale · B A to the layers' weights: an equivalent model without adapters.
 * @param weights all parameters in the order of `parameterSpecs`; changed in place.
 */
export function mergeAdapter(
  config: DecoderConfig,
  weights: Float32Array,
  { lora, weights: adapters }: Adapter,
): void {
  const scale = loraScale(lora);
  const own = new Map(
    tensorsOf(loraSpecs(config, lora), adapters).map(({ name, data }) => [name, data]),
  );
  for (const { name, shape, data } of tensorsOf(parameterSpecs(config), weights)) {
    const names = loraNames(name);
    const [a, b] = [own.get(names.a), own.get(names.b)];
    if (a === undefined || b === undefined) continue;
    const [out, from] = shape as readonly [number, number];
    const row = new Float64Array(from);
    for (let o = 0; o < out; o++) {
      row.fill(0);
      for (let r = 0; r < lora.rank; r++) {
        const factor = b[o * lora.rank + r]!;
        for (let i = 0; i < from; i++) row[i]! += factor * a[r * from + i]!;
      }
      for (let i = 0; i < from; i++) data[o * from + i]! += scale * row[i]!;
    }
  }
}

import { random } from "../base/random.ts";
import type { DecoderConfig } from "./config.ts";
import { EMBEDDING, HEAD, layerNames, parameterSpecs } from "./parameters.ts";
import type { NamedTensor } from "./safetensors.ts";

/**
 * Initial weights that learn to read quickly ("mimetic", after Trockman & Kolter, arXiv 2305.09828): in each layer, the query
 * projection of each key/value group's first head equals the key projection, so that tokens first attend to similar
 * tokens. Matrices are normal with deviation √(1/in), residual outputs scaled by .35, embeddings with deviation .1, norms 1.
 *
 * @param seed the same seed gives the same bytes.
 */
export function initialWeights(config: DecoderConfig, seed: number): NamedTensor[] {
  const stream = random(seed);
  const tensors = parameterSpecs(config).map(({ name, shape }): NamedTensor => {
    const [rows = 1, columns] = shape;
    const data = new Float32Array(rows * (columns ?? 1));
    if (columns === undefined)
      return { name, shape, data: data.fill(name.endsWith(".bias") ? 0 : 1) };
    const draw = stream.derive(name);
    const deviation =
      name === EMBEDDING || name === HEAD ? 0.1 : residualScale(name) / Math.sqrt(columns);
    for (let i = 0; i < data.length; i++) data[i] = deviation * draw.normal();
    return { name, shape, data };
  });
  const byName = new Map(tensors.map((tensor) => [tensor.name, tensor.data]));
  const headSize = config.headDim * config.hiddenSize;
  for (let layer = 0; layer < config.layers; layer++) {
    const names = layerNames(layer);
    const keys = byName.get(names.k)!;
    for (let kv = 0; kv < config.kvHeads; kv++) {
      const first = kv * (config.heads / config.kvHeads) * headSize;
      byName.get(names.q)!.set(keys.subarray(kv * headSize, (kv + 1) * headSize), first);
    }
  }
  return tensors;
}

function residualScale(name: string): number {
  return name.endsWith("o_proj.weight") || name.endsWith("down_proj.weight") ? 0.35 : 1;
}

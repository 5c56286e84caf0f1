import { sizeOf } from "../autodiff/graph.ts";
import type { DecoderConfig } from "./config.ts";
import type { NamedTensor } from "./safetensors.ts";

/** A parameter, by its Hugging Face name. Linear weights are stored [out, in]. */
export interface ParameterSpec {
  name: string;
  shape: readonly number[];
  /** Only matrices have weight decay (as in every public decoder recipe). */
  decays: boolean;
}

export function layerNames(layer: number): Record<LayerTensor, string> {
  const of = (suffix: string): string => `model.layers.${layer}.${suffix}`;
  return {
    inputNorm: of("input_layernorm.weight"),
    q: of("self_attn.q_proj.weight"),
    k: of("self_attn.k_proj.weight"),
    v: of("self_attn.v_proj.weight"),
    qBias: of("self_attn.q_proj.bias"),
    kBias: of("self_attn.k_proj.bias"),
    vBias: of("self_attn.v_proj.bias"),
    qNorm: of("self_attn.q_norm.weight"),
    kNorm: of("self_attn.k_norm.weight"),
    o: of("self_attn.o_proj.weight"),
    postNorm: of("post_attention_layernorm.weight"),
    gate: of("mlp.gate_proj.weight"),
    up: of("mlp.up_proj.weight"),
    down: of("mlp.down_proj.weight"),
  };
}

export type LayerTensor =
  | "inputNorm"
  | "q"
  | "k"
  | "v"
  | "qBias"
  | "kBias"
  | "vBias"
  | "qNorm"
  | "kNorm"
  | "o"
  | "postNorm"
  | "gate"
  | "up"
  | "down";

export const EMBEDDING = "model.embed_tokens.weight";
export const FINAL_NORM = "model.norm.weight";
export const HEAD = "lm_head.weight";
/** As in transformers' models for sequence classification with one label. */
export const VALUE_HEAD = "score.weight";

/** Every parameter of a decoder: matrices first, then vectors, so that those with weight decay are one range of a flat array. */
export function parameterSpecs(config: DecoderConfig): ParameterSpec[] {
  const { hiddenSize: d, intermediateSize: f, vocabSize } = config;
  const q = config.heads * config.headDim;
  const kv = config.kvHeads * config.headDim;
  const matrix = (name: string, rows: number, columns: number): ParameterSpec => ({
    name,
    shape: [rows, columns],
    decays: true,
  });
  const vector = (name: string, size: number): ParameterSpec => ({
    name,
    shape: [size],
    decays: false,
  });
  const specs = [matrix(EMBEDDING, vocabSize, d)];
  for (let layer = 0; layer < config.layers; layer++) {
    const names = layerNames(layer);
    specs.push(
      vector(names.inputNorm, d),
      matrix(names.q, q, d),
      matrix(names.k, kv, d),
      matrix(names.v, kv, d),
    );
    if (config.qkvBias)
      specs.push(vector(names.qBias, q), vector(names.kBias, kv), vector(names.vBias, kv));
    if (config.qkNorm)
      specs.push(vector(names.qNorm, config.headDim), vector(names.kNorm, config.headDim));
    specs.push(
      matrix(names.o, d, q),
      vector(names.postNorm, d),
      matrix(names.gate, f, d),
      matrix(names.up, f, d),
      matrix(names.down, d, f),
    );
  }
  specs.push(vector(FINAL_NORM, d));
  if (!config.tiedEmbeddings && config.valueHead !== "instead")
    specs.push(matrix(HEAD, vocabSize, d));
  if (config.valueHead !== undefined) specs.push(matrix(VALUE_HEAD, 1, d));
  return [...specs.filter(({ decays }) => decays), ...specs.filter(({ decays }) => !decays)];
}

/** Views of one array by name. @param flat as many elements as all tensors, in their order; not copied. */
export function tensorsOf(specs: readonly ParameterSpec[], flat: Float32Array): NamedTensor[] {
  let at = 0;
  return specs.map(({ name, shape }) => {
    const size = sizeOf(shape);
    at += size;
    return { name, shape, data: flat.subarray(at - size, at) };
  });
}

/** Number of elements with weight decay. They are the start of a flat array, because matrices come before vectors. */
export function decayingSize(specs: readonly ParameterSpec[]): number {
  return totalSize(specs.filter(({ decays }) => decays));
}

export function totalSize(specs: readonly Pick<ParameterSpec, "shape">[]): number {
  return specs.reduce((sum, { shape }) => sum + sizeOf(shape), 0);
}

export function parameterCount(config: DecoderConfig): number {
  return totalSize(parameterSpecs(config));
}

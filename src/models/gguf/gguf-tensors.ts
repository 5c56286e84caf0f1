/** Where a decoder's parameters lie in a GGUF file. */
import { DataError } from "../../base/errors.ts";
import type { DecoderConfig } from "../config.ts";
import { EMBEDDING, FINAL_NORM, HEAD, layerNames, parameterSpecs } from "../parameters.ts";
import type { LayerTensor, ParameterSpec } from "../parameters.ts";
import { ggufArchitecture, ROPE_DIVISORS } from "./gguf-config.ts";
import type { GgufFile } from "./gguf-file.ts";
import type { GgufTensor } from "./gguf-header.ts";

/** Names within a layer, `blk.N.` before them. */
const LAYER: Readonly<Record<LayerTensor, string>> = {
  inputNorm: "attn_norm.weight",
  q: "attn_q.weight",
  k: "attn_k.weight",
  v: "attn_v.weight",
  qBias: "attn_q.bias",
  kBias: "attn_k.bias",
  vBias: "attn_v.bias",
  qNorm: "attn_q_norm.weight",
  kNorm: "attn_k_norm.weight",
  o: "attn_output.weight",
  postNorm: "ffn_norm.weight",
  gate: "ffn_gate.weight",
  up: "ffn_up.weight",
  down: "ffn_down.weight",
};

export interface GgufParameter {
  readonly spec: ParameterSpec;
  readonly tensor: GgufTensor;
  /** Heads whose rows are stored in pairs (`unpairRows`); 0: rows are in Hugging Face's order. */
  readonly pairedHeads: number;
}

/**
 * Finds every parameter, in the order of `parameterSpecs`.
 * @throws {DataError} CHECKPOINT_MISFIT with the tensor that is missing, has another shape, or is unexpected.
 */
export function ggufParameters(file: GgufFile, config: DecoderConfig): GgufParameter[] {
  const { path, tensors } = file;
  const misfit = (what: string): DataError =>
    new DataError(
      "CHECKPOINT_MISFIT",
      `${path}: ${what}. The tensors must match the metadata; download the file again, or choose another.`,
    );
  const names = namesOf(config);
  const paired = pairedNames(file, config);
  const unused = new Set(tensors.keys());
  // Buffers that the configuration determines.
  unused.delete(ROPE_DIVISORS);
  const found = parameterSpecs(config).map((spec) => {
    const name = names.get(spec.name)!;
    const tensor = tensors.get(name);
    const wanted = `[${spec.shape.join(", ")}]`;
    if (tensor === undefined) throw misfit(`has no tensor "${name}" ${wanted}`);
    if (tensor.shape.join() !== spec.shape.join())
      throw misfit(`"${name}" is [${tensor.shape.join(", ")}], but the metadata require ${wanted}`);
    unused.delete(name);
    return { spec, tensor, pairedHeads: paired.get(spec.name) ?? 0 };
  });
  const [extra] = unused;
  if (extra !== undefined)
    throw misfit(`contains "${extra}", which models of type ${config.architecture} do not have`);
  return found;
}

/** Names in the file by Hugging Face's. */
function namesOf({ layers }: DecoderConfig): Map<string, string> {
  const names = new Map([
    [EMBEDDING, "token_embd.weight"],
    [FINAL_NORM, "output_norm.weight"],
    [HEAD, "output.weight"],
  ]);
  for (let layer = 0; layer < layers; layer++) {
    for (const [key, name] of Object.entries(layerNames(layer)))
      names.set(name, `blk.${layer}.${LAYER[key as LayerTensor]}`);
  }
  return names;
}

/** Queries and keys of a family whose rows are paired, with their heads. */
function pairedNames(file: GgufFile, config: DecoderConfig): Map<string, number> {
  const names = new Map<string, number>();
  if (ggufArchitecture(file).gguf?.pairedRows !== true) return names;
  for (let layer = 0; layer < config.layers; layer++) {
    const { q, k } = layerNames(layer);
    names.set(q, config.heads).set(k, config.kvHeads);
  }
  return names;
}

/**
 * Rows in Hugging Face's order. Rotary positions turn pairs of rows of each head: rows i and i + d/2 in Hugging Face's order, neighbours
 * (2i and 2i + 1) in Meta's, which llama.cpp uses for Llama.
 *
 * @param stored [heads · d, columns], neighbours.
 * Source: the inverse of `LlamaModel.permute` in llama.cpp's convert_hf_to_gguf.py.
 */
export function unpairRows(stored: Float32Array, rows: number, heads: number): Float32Array {
  const columns = stored.length / rows;
  const size = rows / heads;
  const unpaired = new Float32Array(stored.length);
  for (let row = 0; row < rows; row++) {
    const within = row % size;
    const target = row - within + (within % 2) * (size / 2) + Math.floor(within / 2);
    unpaired.set(stored.subarray(row * columns, (row + 1) * columns), target * columns);
  }
  return unpaired;
}

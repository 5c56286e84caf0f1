import { z } from "../../base/schema.ts";
import { plainFeatures } from "../config.ts";
import { commonConfig, commonKeys, defineArchitecture, headSize } from "./architecture.ts";

export const llama = defineArchitecture({
  name: "llama",
  summary: "Llama 2 and 3, SmolLM and SmolLM2, and other models in Llama's format.",
  className: "LlamaForCausalLM",
  gguf: { name: "llama", pairedRows: true },
  schema: z.object({
    ...commonKeys,
    num_key_value_heads: z.int().positive().nullish(),
    head_dim: headSize,
    attention_bias: z.literal(false).optional(),
    mlp_bias: z.literal(false).optional(),
  }),
  toConfig: (keys) => ({ ...plainFeatures, ...commonConfig("llama", keys) }),
  toKeys: () => ({}),
});

import { z } from "../../base/schema.ts";
import { plainFeatures } from "../config.ts";
import { commonConfig, commonKeys, defineArchitecture, keyValueHeads } from "./architecture.ts";
import {
  layerTypesFit,
  layerTypesMisfit,
  readWindow,
  windowKeys,
  writeWindow,
} from "./qwen-window.ts";

export const qwen3 = defineArchitecture({
  name: "qwen3",
  summary: "Qwen3, dense: Llama with a norm over each head of queries and keys.",
  className: "Qwen3ForCausalLM",
  gguf: { name: "qwen3", pairedRows: false },
  schema: z
    .object({
      ...commonKeys,
      num_key_value_heads: keyValueHeads,
      // Not hidden_size / heads: the family's own default.
      head_dim: z.int().positive().default(128),
      attention_bias: z.literal(false).optional(),
      ...windowKeys,
    })
    .refine(layerTypesFit, layerTypesMisfit),
  toConfig: (keys) => ({
    ...plainFeatures,
    ...commonConfig("qwen3", keys),
    qkNorm: true,
    slidingWindow: readWindow(keys),
  }),
  toKeys: writeWindow,
});

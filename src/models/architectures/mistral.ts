import { z } from "../../base/schema.ts";
import { plainFeatures } from "../config.ts";
import {
  commonConfig,
  commonKeys,
  defineArchitecture,
  headSize,
  keyValueHeads,
} from "./architecture.ts";

export const mistral = defineArchitecture({
  name: "mistral",
  summary: "Mistral 7B and Nemo: Llama whose every layer may see a sliding window only.",
  className: "MistralForCausalLM",
  schema: z.object({
    ...commonKeys,
    num_key_value_heads: keyValueHeads,
    head_dim: headSize,
    // A file without the key is the first Mistral 7B; later ones write null.
    sliding_window: z.int().positive().nullable().default(4096),
  }),
  toConfig: (keys) => ({
    ...plainFeatures,
    ...commonConfig("mistral", keys),
    slidingWindow:
      keys.sliding_window === null ? null : { size: keys.sliding_window, fromLayer: 0 },
  }),
  toKeys: ({ slidingWindow }) => ({ sliding_window: slidingWindow?.size ?? null }),
});

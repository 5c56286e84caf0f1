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
  summary: "Mistral 7B and Nemo: Llama with an optional sliding window in every layer.",
  className: "MistralForCausalLM",
  schema: z.object({
    ...commonKeys,
    num_key_value_heads: keyValueHeads,
    head_dim: headSize,
    // The first Mistral 7B has no such key; later models write null.
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

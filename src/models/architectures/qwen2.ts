import { z } from "../../base/schema.ts";
import { plainFeatures } from "../config.ts";
import {
  commonConfig,
  commonKeys,
  defineArchitecture,
  headSize,
  keyValueHeads,
} from "./architecture.ts";
import {
  layerTypesFit,
  layerTypesMisfit,
  readWindow,
  windowKeys,
  writeWindow,
} from "./qwen-window.ts";

export const qwen2 = defineArchitecture({
  name: "qwen2",
  summary: "Qwen2 and Qwen2.5: Llama with biases on queries, keys and values.",
  className: "Qwen2ForCausalLM",
  gguf: { name: "qwen2", pairedRows: false },
  schema: z
    .object({
      ...commonKeys,
      num_key_value_heads: keyValueHeads,
      head_dim: headSize,
      ...windowKeys,
    })
    .refine(layerTypesFit, layerTypesMisfit),
  toConfig: (keys) => ({
    ...plainFeatures,
    ...commonConfig("qwen2", keys),
    qkvBias: true,
    slidingWindow: readWindow(keys),
  }),
  toKeys: writeWindow,
});

import { join } from "node:path";
import { sizeOf } from "../../../base/files.ts";
import { formatBytes } from "../../../base/format.ts";
import { claimOutput } from "../../claim-output.ts";
import { defineCommand } from "../../command.ts";
import { withProgress } from "../../model-download.ts";
import { jsonFlag, overwriteFlag } from "../../options.ts";

/** Names of `--dtype` and the dtypes of safetensors files. */
const DTYPES = { float32: "F32", float16: "F16", bfloat16: "BF16" } as const;

/** `agentrl models convert FILE.gguf --out FOLDER` */
export const modelsConvert = defineCommand({
  name: "convert",
  summary: "write a GGUF file as a Hugging Face folder",
  description:
    "Write the model of a GGUF file as a Hugging Face folder: config.json, model.safetensors, tokenizer.json, generation_config.json and the " +
    "chat template. Quantised tensors are dequantised. --policy and --model also take the file itself: it is converted once, into the cache.",
  args: [["<file>", "GGUF file of a llama, qwen2 or qwen3 model"]],
  options: {
    out: ["<folder>", "folder to write"],
    dtype: [
      "<dtype>",
      "dtype of the matrices; auto: that of the file, float32 for quantised ones, so nothing is rounded",
      ["auto", ...Object.keys(DTYPES)] as ("auto" | keyof typeof DTYPES)[],
      "auto",
    ],
    overwrite: overwriteFlag("replace the model in an existing folder"),
    json: jsonFlag(),
  },
  required: ["out"],
  async run({ out, dtype, overwrite, json }, context, file) {
    const { convertGguf } = await import("../../../models/gguf/convert-gguf.ts");
    claimOutput(out, overwrite);
    const bar = { label: "converting", total: 0, unit: "tensors" };
    const converted = await withProgress(context, bar, (update) =>
      convertGguf(file, out, {
        dtype: dtype === "auto" ? undefined : DTYPES[dtype],
        signal: context.signal,
        onProgress: (done) => {
          update(done);
        },
      }),
    );
    const { config, types, dtype: written } = converted;
    const bytes = await sizeOf(join(out, "model.safetensors"));
    const stored = Object.fromEntries(types);
    const { architecture, layers, hiddenSize } = config;
    if (json === true) {
      const facts = { architecture, stored, dtype: written, bytes };
      context.out(JSON.stringify({ in: file, out, ...facts }));
      return;
    }
    const from = [...types].map(([type, count]) => `${type} × ${count}`).join(", ");
    context.out(
      `${out}: ${architecture}, ${layers} layers of ${hiddenSize}; matrices ${from} as ${written}, ${formatBytes(bytes)}`,
    );
  },
});

import { statSync } from "node:fs";
import { join } from "node:path";
import type { convertGguf } from "../../../models/gguf/convert-gguf.ts";
import { sizeOf } from "../../../base/files.ts";
import { formatBytes } from "../../../base/format.ts";
import { claimOutput } from "../../claim-output.ts";
import { defineCommand } from "../../command.ts";
import { withProgress } from "../../model-download.ts";
import { jsonFlag, overwriteFlag } from "../../options.ts";

/** Names of `--dtype` and the dtypes of safetensors files. */
const DTYPES = { float32: "F32", float16: "F16", bfloat16: "BF16" } as const;

/** `agentrl models convert MODEL --out FOLDER` */
export const modelsConvert = defineCommand({
  name: "convert",
  summary: "write a GGUF file, or a model in another dtype, as a Hugging Face folder",
  description:
    "Write a model as a Hugging Face folder: config.json, model.safetensors, tokenizer.json, generation_config.json and the chat template. " +
    "Of a GGUF file, quantised tensors are dequantised; --policy and --model also take the file itself: it is converted once, into the cache. " +
    "Of a model that is a folder already, --dtype writes it in another dtype, such as float32 for a training server on a processor.",
  args: [
    [
      "<model>",
      "GGUF file of a llama, qwen2 or qwen3 model, a folder, org/name of the hub, or a policy of this package",
    ],
  ],
  options: {
    out: ["<folder>", "folder to write"],
    dtype: [
      "<dtype>",
      "dtype of the matrices; auto: that of the model, float32 for quantised ones, so nothing is rounded",
      ["auto", ...Object.keys(DTYPES)] as ("auto" | keyof typeof DTYPES)[],
      "auto",
    ],
    overwrite: overwriteFlag("replace the model in an existing folder"),
    json: jsonFlag(),
  },
  required: ["out"],
  async run({ out, dtype, overwrite, json }, context, file) {
    const convert = await converterOf(file, context.signal);
    claimOutput(out, overwrite);
    const bar = { label: "converting", total: 0, unit: "tensors" };
    const converted = await withProgress(context, bar, (update) =>
      convert(out, {
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

/** Writes the model into a folder. */
type Converter = (
  out: string,
  options: Parameters<typeof convertGguf>[2],
) => Promise<Pick<Awaited<ReturnType<typeof convertGguf>>, "config" | "types" | "dtype">>;

/** A file is read as GGUF; every other model is a folder, or becomes one. @throws as `policyFolder` */
async function converterOf(model: string, signal: AbortSignal): Promise<Converter> {
  if (/\.gguf$/i.test(model) || statSync(model, { throwIfNoEntry: false })?.isFile() === true) {
    const { convertGguf } = await import("../../../models/gguf/convert-gguf.ts");
    return (out, options) => convertGguf(model, out, options);
  }
  const { policyFolder } = await import("../../../run/assemble.ts");
  const { convertFolder } = await import("../../../models/convert-folder.ts");
  const folder = await policyFolder(model, { signal });
  return (out, options) => convertFolder(folder, out, options);
}

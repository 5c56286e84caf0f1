import { join } from "node:path";
import { type Command, Option } from "commander";
import { formatBytes } from "../../../base/format.ts";
import { sizeOf } from "../../../base/files.ts";
import type { CliContext } from "../../command.ts";
import { jsonOption, overwriteOption } from "../../options.ts";
import { claimOutput } from "../../claim-output.ts";
import { startProgress } from "../../progress.ts";

/** Names of `--dtype` and the dtypes of safetensors files. */
const DTYPES = { float32: "F32", float16: "F16", bfloat16: "BF16" } as const;

interface ConvertFlags {
  out: string;
  dtype: keyof typeof DTYPES | "auto";
  overwrite?: true;
  json?: true;
}

/** `agentrl models convert FILE.gguf --out FOLDER` */
export function addModelsConvert(models: Command, context: CliContext): void {
  models
    .command("convert")
    .summary("write a GGUF file as a Hugging Face folder")
    .description(
      "Write the model of a GGUF file as a Hugging Face folder: config.json, model.safetensors, tokenizer.json, generation_config.json and the " +
        "chat template. Quantised tensors are dequantised. --policy and --model also take the file itself: it is converted once, into the cache.",
    )
    .argument("<file>", "GGUF file of a llama, qwen2 or qwen3 model")
    .addOption(new Option("--out <folder>", "folder to write").makeOptionMandatory())
    .addOption(
      new Option(
        "--dtype <dtype>",
        "dtype of the matrices; auto: that of the file, float32 for quantised ones, so nothing is rounded",
      )
        .choices(["auto", ...Object.keys(DTYPES)])
        .default("auto"),
    )
    .addOption(overwriteOption("replace the model in an existing folder"))
    .addOption(jsonOption())
    .action(async (file: string, { out, dtype, overwrite, json }: ConvertFlags) => {
      const { convertGguf } = await import("../../../models/gguf/convert-gguf.ts");
      claimOutput(out, overwrite);
      const bar = startProgress(context, { label: "converting", total: 0, unit: "tensors" });
      const {
        config,
        types,
        dtype: written,
      } = await convertGguf(file, out, {
        dtype: dtype === "auto" ? undefined : DTYPES[dtype],
        signal: context.signal,
        onProgress: (done) => {
          bar.update(done, "");
        },
      }).finally(() => {
        bar.stop();
      });
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
    });
}

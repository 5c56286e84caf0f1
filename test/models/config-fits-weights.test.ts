import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { readDecoderConfig } from "../../src/models/checkpoint.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { writeTinyModel } from "../helpers/tiny-model.ts";

const folder = temporaryFolder();

it.each<[string, unknown, "CHECKPOINT_MISFIT" | "MODEL_CONFIG_UNSUPPORTED"]>([
  ["num_hidden_layers", 1e9, "MODEL_CONFIG_UNSUPPORTED"],
  ["num_hidden_layers", 3, "CHECKPOINT_MISFIT"],
  ["num_hidden_layers", 1, "CHECKPOINT_MISFIT"],
  ["num_hidden_layers", 1.5, "MODEL_CONFIG_UNSUPPORTED"],
  ["num_hidden_layers", -2, "MODEL_CONFIG_UNSUPPORTED"],
  ["num_hidden_layers", "2", "MODEL_CONFIG_UNSUPPORTED"],
  ["vocab_size", 2 ** 31, "MODEL_CONFIG_UNSUPPORTED"],
  ["vocab_size", 2 ** 31 - 1, "CHECKPOINT_MISFIT"],
  ["vocab_size", 299, "CHECKPOINT_MISFIT"],
  ["hidden_size", 2 ** 30, "CHECKPOINT_MISFIT"],
  ["intermediate_size", 1e308, "MODEL_CONFIG_UNSUPPORTED"],
  ["num_attention_heads", 2, "CHECKPOINT_MISFIT"],
  ["num_key_value_heads", 1, "CHECKPOINT_MISFIT"],
  ["head_dim", 2 ** 31, "MODEL_CONFIG_UNSUPPORTED"],
  ["tie_word_embeddings", false, "CHECKPOINT_MISFIT"],
])(
  "refuses a config.json whose %s is %j before anything is made of it",
  async (key, value, code) => {
    const model = await writeTinyModel(folder);
    const path = join(model, "config.json");
    const config = JSON.parse(await readFile(path, "utf8")) as Record<string, unknown>;
    await writeFile(path, JSON.stringify({ ...config, [key]: value }));
    await expect(readDecoderConfig(model)).rejects.toThrow(errorWith(code));
  },
);

it("reads a config.json without weights, as a plan needs", async () => {
  const model = await writeTinyModel(folder);
  await rm(join(model, "model.safetensors"));
  expect((await readDecoderConfig(model)).layers).toBe(2);
});

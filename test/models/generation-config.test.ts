import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readGenerationConfig, type GenerationConfig } from "../../src/models/generation-config.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

async function read(name: string, files: Record<string, unknown>): Promise<GenerationConfig> {
  const at = join(folder, name);
  await mkdir(at);
  for (const [file, json] of Object.entries(files)) {
    await writeFile(join(at, file), JSON.stringify(json));
  }
  return readGenerationConfig(at);
}

describe("generation_config.json", () => {
  it("of Qwen2.5 gives its two ends and how to sample", async () => {
    const file = {
      bos_token_id: 151643,
      pad_token_id: 151643,
      do_sample: true,
      eos_token_id: [151645, 151643],
      repetition_penalty: 1.1,
      temperature: 0.7,
      top_p: 0.8,
      top_k: 20,
      transformers_version: "4.37.0",
      typical_p: 0.9,
    };
    expect(await read("qwen", { "generation_config.json": file, "config.json": {} })).toEqual({
      eosIds: [151645, 151643],
      bosId: 151643,
      padId: 151643,
      doSample: true,
      temperature: 0.7,
      topP: 0.8,
      topK: 20,
      minP: null,
      repetitionPenalty: 1.1,
      maxNewTokens: null,
      stopStrings: [],
      others: { transformers_version: "4.37.0", typical_p: 0.9 },
    });
  });

  it("may be missing: config.json then names the special tokens", async () => {
    const config = { bos_token_id: 1, eos_token_id: 2, temperature: 3, hidden_size: 8 };
    expect(await read("old", { "config.json": config })).toMatchObject({
      eosIds: [2],
      bosId: 1,
      padId: null,
      temperature: null,
      others: {},
    });
  });

  it("may say nothing, or say it briefly", async () => {
    const none = await read("none", { "generation_config.json": { eos_token_id: null } });
    expect([none.eosIds, none.doSample, none.topK]).toEqual([[], null, null]);
    const brief = { top_k: -1, stop_strings: "###" };
    const read1 = await read("brief", { "generation_config.json": brief });
    expect([read1.topK, read1.stopStrings]).toEqual([0, ["###"]]);
  });

  it.each([
    ["eos", { eos_token_id: "</s>" }, 'eos_token_id is "</s>": expected a token id or a list'],
    ["hot", { temperature: -1 }, "temperature is -1: expected at least 0"],
    ["mass", { top_p: 1.5 }, "top_p is 1.5: expected at most 1"],
    ["stop", { stop_strings: [3] }, "stop_strings is [3]: expected text or a list of texts"],
  ])("with an impossible value is refused by its key (%s)", async (name, file, message) => {
    const error = errorWith("GENERATION_CONFIG_BAD", message);
    await expect(read(name, { "generation_config.json": file })).rejects.toThrow(error);
  });
});

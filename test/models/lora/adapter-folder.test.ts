import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readJson, writeJson } from "../../../src/base/files.ts";
import { plainFeatures, type DecoderConfig } from "../../../src/models/config.ts";
import {
  baseOfAdapter,
  isAdapterFolder,
  parseAdapterConfig,
  readAdapter,
  writeAdapter,
} from "../../../src/models/lora/adapter-folder.ts";
import { initialAdapter } from "../../../src/models/lora/lora.ts";
import { targetModules } from "../../../src/models/lora/target-modules.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const config: DecoderConfig = {
  ...plainFeatures,
  architecture: "llama",
  vocabSize: 7,
  hiddenSize: 4,
  layers: 2,
  heads: 2,
  kvHeads: 1,
  headDim: 2,
  intermediateSize: 6,
  normEpsilon: 1e-5,
  ropeTheta: 500,
  tiedEmbeddings: true,
  maxPositions: 16,
};
const keys = { peft_type: "LORA", r: 8, lora_alpha: 16, target_modules: ["q_proj", "v_proj"] };

describe("parseAdapterConfig", () => {
  it("reads rank, alpha, scaling and targets", () => {
    const lora = { rank: 8, alpha: 16, rslora: false, targets: ["q_proj", "v_proj"] };
    expect(parseAdapterConfig(keys, config, "a.json")).toEqual(lora);
    const other = { ...keys, use_rslora: true, target_modules: "all-linear" };
    const wide = { rslora: true, targets: targetModules };
    expect(parseAdapterConfig(other, config, "a.json")).toMatchObject(wide);
  });

  it("passes over what says nothing, and where the adapter comes from", () => {
    const more = {
      use_dora: false,
      rank_pattern: {},
      modules_to_save: null,
      peft_version: "0.21.2",
    };
    expect(parseAdapterConfig({ ...keys, ...more }, config, "a.json")).toMatchObject({ rank: 8 });
  });

  it.each<[Record<string, unknown>, string]>([
    [{ peft_type: "IA3" }, 'a.json: peft_type is "IA3": allowed: "LORA".'],
    [{ task_type: "SEQ_CLS" }, 'a.json: task_type is "SEQ_CLS": allowed: "CAUSAL_LM".'],
    [{ lora_dropout: 0.05 }, "a.json: lora_dropout is 0.05: allowed: 0."],
    [{ bias: "all" }, 'a.json: bias is "all": allowed: "none".'],
    [{ fan_in_fan_out: true }, "a.json: fan_in_fan_out is true: allowed: false."],
    [{ r: 0 }, "a.json: r is 0: expected more than 0."],
    [{ use_dora: true }, "a.json: use_dora is true: allowed: null, false or {}"],
    [{ modules_to_save: ["lm_head"] }, 'a.json: modules_to_save is ["lm_head"]: allowed: null'],
    [{ rank_pattern: { q_proj: 4 } }, 'a.json: rank_pattern is {"q_proj":4}: allowed: null'],
    [{ init_lora_weights: "pissa" }, 'a.json: init_lora_weights is "pissa": allowed: true, false'],
    [{ target_modules: "q_.*" }, 'a.json: target_modules is "q_.*": expected a list.'],
    [
      { target_modules: ["q_proj", "lm_head"] },
      'a.json: target_modules contains "lm_head", which matches no adaptable layer of the model: allowed: "all-linear", or a list of q_proj',
    ],
  ])("refuses %j by key, what stands there and what is allowed", (change, message) => {
    expect(() => parseAdapterConfig({ ...keys, ...change }, config, "a.json")).toThrow(
      errorWith("ADAPTER_UNSUPPORTED", message),
    );
  });
});

describe("an adapter's folder", () => {
  const lora = { rank: 2, alpha: 4, rslora: true, targets: ["k_proj", "layers.0.mlp.down_proj"] };
  const adapter = initialAdapter(config, lora, 5);

  it("comes back as it was written, and names its base; with weights beside it the folder is a model's", async () => {
    const at = join(folder, "whole");
    await writeAdapter(at, config, adapter, { base: "org/base", dtype: "F32" });
    expect(await readAdapter(at, config)).toEqual(adapter);
    expect(await baseOfAdapter(at)).toBe("org/base");
    await writeJson(join(at, "config.json"), {});
    expect(isAdapterFolder(at)).toBe(true);
    await writeJson(join(at, "model.safetensors.index.json"), {});
    expect(isAdapterFolder(at)).toBe(false);
    const written = await readJson(join(at, "adapter_config.json"));
    expect(written).toMatchObject({ peft_type: "LORA", task_type: "CAUSAL_LM", use_rslora: true });
  });

  it("is read without target_modules, which SkyRL leaves out: its tensors name the layers", async () => {
    const at = join(folder, "unnamed");
    await writeAdapter(at, config, adapter, { base: "base", dtype: "F32" });
    const path = join(at, "adapter_config.json");
    await writeJson(path, { ...((await readJson(path)) as object), target_modules: null });
    const found = await readAdapter(at, config);
    expect(found.weights).toEqual(adapter.weights);
    expect(found.lora.rank).toBe(adapter.lora.rank);
  });

  it("is refused when its tensors are not those that its configuration asks for", async () => {
    const at = join(folder, "other");
    await writeAdapter(at, config, adapter, { base: "", dtype: "BF16" });
    await expect(baseOfAdapter(at)).rejects.toThrow(
      errorWith("ADAPTER_UNSUPPORTED", 'base_model_name_or_path is ""'),
    );
    const path = join(at, "adapter_config.json");
    const written = (await readJson(path)) as Record<string, unknown>;
    await writeJson(path, { ...written, r: 3 });
    await expect(readAdapter(at, config)).rejects.toThrow(
      errorWith("CHECKPOINT_MISFIT", "is [2, 4], but adapter_config.json requires [3, 4]"),
    );
    await writeJson(path, { ...written, target_modules: ["k_proj"] });
    await expect(readAdapter(at, config)).rejects.toThrow(
      errorWith("CHECKPOINT_MISFIT", "which adapter_config.json does not define"),
    );
    await writeJson(path, []);
    await expect(readAdapter(at, config)).rejects.toThrow(
      errorWith("ADAPTER_UNSUPPORTED", "is []: expected keys and values"),
    );
  });
});

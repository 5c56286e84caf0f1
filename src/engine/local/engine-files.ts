/** Folders that the local engine opens, writes and goes on from: a whole model, or adapters beside a base that stays as it is. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { ConfigError, DataError } from "../../base/errors.ts";
import { readJson, writeJson } from "../../base/files.ts";
import { quote } from "../../base/schema.ts";
import {
  flattenAs,
  readCheckpoint,
  readDecoderConfig,
  writeCheckpoint,
} from "../../models/checkpoint.ts";
import type { DecoderConfig } from "../../models/config.ts";
import {
  baseOfAdapter,
  isAdapterFolder,
  readAdapter,
  writeAdapter,
} from "../../models/lora/adapter-folder.ts";
import {
  initialAdapter,
  mergeAdapter,
  trainedSpecs,
  type Adapter,
  type LoraConfig,
} from "../../models/lora/lora.ts";
import { tensorsOf } from "../../models/parameters.ts";
import { readSafetensors, writeSafetensors } from "../../models/safetensors.ts";
import type { SaveOptions } from "../engine.ts";
import type { OptimizerState, TrainingState } from "./messages.ts";

/** Adapters that do not exist yet. */
export interface FreshLora extends LoraConfig {
  /** Of A; B starts at zero, so that nothing changes. */
  seed: number;
}

/** What a folder holds that is opened to be run; the weights themselves are read by whoever runs it. */
export interface OpenedModel {
  config: DecoderConfig;
  adapter: Adapter | null;
  /** Where the weights lie that adapters do not change; the folder itself where it has no adapters. */
  base: string;
}

/** What is saved and loaded again, of which model. */
export interface TrainedModel {
  config: DecoderConfig;
  lora: LoraConfig | null;
  base: string;
}

const OPTIMIZER_FILE = "optimizer.safetensors";
const STATE_FILE = "training-state.json";

/** Whether a folder says how far training came in it. */
export function hasTrainingState(folder: string): boolean {
  return existsSync(join(folder, STATE_FILE));
}

/**
 * Looks into a model's folder, or reads an adapter's and looks into its base's.
 *
 * @param options.base where an adapter's base lies; as its `adapter_config.json` says where this is missing.
 * @param options.lora fresh adapters over a whole model; over an adapter, those that it must be.
 * @throws {ConfigError} RECIPE_BAD_VALUE when a folder's adapters are others than those asked for.
 */
export async function openModel(
  model: string,
  options: { base?: string | undefined; lora?: FreshLora | undefined },
): Promise<OpenedModel> {
  const { lora } = options;
  if (!isAdapterFolder(model)) {
    const config = await readDecoderConfig(model);
    return { config, adapter: lora === undefined ? null : freshAdapter(config, lora), base: model };
  }
  const base = options.base ?? (await baseOfAdapter(model));
  const config = await readDecoderConfig(base);
  const adapter = await readAdapter(model, config);
  if (lora !== undefined && !isSame(config, adapter.lora, plain(lora))) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `policy.lora is ${quote(plain(lora))}: ${model} holds adapters that are ${quote(adapter.lora)}, which are those that can be trained on. Leave policy.lora out, or start from the base, ${base}.`,
    );
  }
  return { config, adapter, base };
}

function freshAdapter(config: DecoderConfig, { seed, ...lora }: FreshLora): Adapter {
  return initialAdapter(config, lora, seed);
}

function plain({ rank, alpha, rslora, targets }: LoraConfig): LoraConfig {
  return { rank, alpha, rslora, targets };
}

/** The same layers and scale, however the targets are named. */
function isSame(config: DecoderConfig, one: LoraConfig, other: LoraConfig): boolean {
  const meaning = (lora: LoraConfig): unknown => [
    ...[lora.alpha, lora.rslora],
    trainedSpecs(config, lora),
  ];
  return isDeepStrictEqual(meaning(one), meaning(other));
}

/**
 * Writes what was trained: a Hugging Face folder, or an adapter's in PEFT's layout that names its base; with `merged` always the
 * former.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function saveTrained(
  folder: string,
  { config, lora, base }: TrainedModel,
  state: TrainingState & { policyVersion: number },
  options: SaveOptions,
): Promise<void> {
  const dtype = options.dtype ?? "F32";
  if (lora === null) {
    const checkpoint = { config, weights: state.weights };
    await writeCheckpoint(folder, checkpoint, { dtype, tokenizerFrom: base });
  } else if (options.merged === true) {
    const whole = await readCheckpoint(base);
    mergeAdapter(config, whole.weights, { lora, weights: state.weights });
    await writeCheckpoint(folder, whole, { dtype, tokenizerFrom: base });
    return;
  } else {
    const adapter = { lora, weights: state.weights };
    await writeAdapter(folder, config, adapter, { base: resolve(base), dtype });
  }
  if (options.optimizer !== true) return;
  const { optimizer, policyVersion } = state;
  const moments = (["mean", "square"] as const).flatMap((kind) =>
    tensorsOf(trainedSpecs(config, lora), optimizer[kind]).map((tensor) => ({
      ...tensor,
      name: `${kind}.${tensor.name}`,
    })),
  );
  await writeSafetensors(join(folder, OPTIMIZER_FILE), moments, "F32");
  // Written last: a folder with it is complete.
  await writeJson(join(folder, STATE_FILE), { step: optimizer.step, policyVersion });
}

/**
 * Reads what `saveTrained` wrote of the same kind of model; version 0 and no moments where the folder has no state.
 * @throws {DataError} CHECKPOINT_MISFIT when its adapters are others; what reading throws.
 */
export async function loadTrained(
  folder: string,
  { config, lora }: TrainedModel,
): Promise<{ weights: Float32Array; optimizer: OptimizerState | null; policyVersion: number }> {
  const weights =
    lora === null
      ? (await readCheckpoint(folder)).weights
      : await adapterWeights(folder, config, lora);
  if (!hasTrainingState(folder)) return { weights, optimizer: null, policyVersion: 0 };
  const state = await readState(folder);
  const path = join(folder, OPTIMIZER_FILE);
  const tensors = await readSafetensors(path);
  const moments = (kind: string): Float32Array => {
    const own = [...tensors].filter(([name]) => name.startsWith(`${kind}.`));
    const named = own.map(([name, tensor]) => [name.slice(kind.length + 1), tensor] as const);
    return flattenAs(trainedSpecs(config, lora), new Map(named), path);
  };
  const optimizer = { mean: moments("mean"), square: moments("square"), step: state.step };
  return { weights, optimizer, policyVersion: state.policyVersion };
}

/** Version of the policy in a folder with training state. */
export async function savedVersion(folder: string): Promise<number> {
  return (await readState(folder)).policyVersion;
}

async function readState(folder: string): Promise<{ step: number; policyVersion: number }> {
  return (await readJson(join(folder, STATE_FILE))) as { step: number; policyVersion: number };
}

async function adapterWeights(
  folder: string,
  config: DecoderConfig,
  lora: LoraConfig,
): Promise<Float32Array> {
  const found = await readAdapter(folder, config);
  if (!isSame(config, found.lora, lora)) {
    throw new DataError(
      "CHECKPOINT_MISFIT",
      `${folder}: holds adapters that are ${quote(found.lora)}, those being trained are ${quote(lora)}. Go on with the settings that it was trained with.`,
    );
  }
  return found.weights;
}

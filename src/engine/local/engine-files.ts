/** Model folders of the local engine: open, save and resume a whole model, or adapters over a frozen base. */
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

/** New adapters. */
export interface FreshLora extends LoraConfig {
  /** Initialises A; B starts at zero, so that the adapters change nothing at first. */
  seed: number;
}

/** The configuration of an opened model folder; its user reads the weights. */
export interface OpenedModel {
  config: DecoderConfig;
  adapter: Adapter | null;
  /** Folder of the frozen base weights; the folder itself without adapters. */
  base: string;
}

/** The trained part of a model, for saving and loading. */
export interface TrainedModel {
  config: DecoderConfig;
  lora: LoraConfig | null;
  base: string;
}

const OPTIMIZER_FILE = "optimizer.safetensors";
const STATE_FILE = "training-state.json";

/** Whether a folder contains a training state. */
export function hasTrainingState(folder: string): boolean {
  return existsSync(join(folder, STATE_FILE));
}

/**
 * Opens a model's folder, or an adapter's folder and that of its base.
 *
 * @param options.base folder of an adapter's base; default: the one in `adapter_config.json`.
 * @param options.lora new adapters over a whole model; for an adapter folder, the adapters that it must contain.
 * @throws {ConfigError} RECIPE_BAD_VALUE when a folder's adapters differ from the requested ones.
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
      `policy.lora is ${quote(plain(lora))}: ${model} contains adapters with ${quote(adapter.lora)}, and only these can be trained. Remove policy.lora, or start from the base, ${base}.`,
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

/** Whether layers and scale are equal, whatever the names of the targets. */
function isSame(config: DecoderConfig, one: LoraConfig, other: LoraConfig): boolean {
  const meaning = (lora: LoraConfig): unknown => [
    ...[lora.alpha, lora.rslora],
    trainedSpecs(config, lora),
  ];
  return isDeepStrictEqual(meaning(one), meaning(other));
}

/**
 * Saves the trained part: a Hugging Face folder, or an adapter folder in PEFT's layout that names its base; with `merged` always the
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
  // Written last: its presence means that the folder is complete.
  await writeJson(join(folder, STATE_FILE), { step: optimizer.step, policyVersion });
}

/**
 * Loads a folder from `saveTrained`; version 0 and no moments when the folder has no state.
 * @throws {DataError} CHECKPOINT_MISFIT when its adapters differ; read errors.
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
      `${folder}: contains adapters with ${quote(found.lora)}, but this run trains ${quote(lora)}. Resume with the original settings.`,
    );
  }
  return found.weights;
}

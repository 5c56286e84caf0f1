/** Model folders of the local engine: open, save and resume a whole model, or adapters over a frozen base. */
import { existsSync } from "node:fs";
import { join, resolve } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { sizeOf } from "../../autodiff/graph.ts";
import { ConfigError, DataError } from "../../base/errors.ts";
import { readJson, writeJson } from "../../base/files.ts";
import { quote } from "../../base/schema.ts";
import {
  flattenAs,
  readCheckpoint,
  readDecoderConfig,
  readWeights,
  writeCheckpoint,
  type Checkpoint,
} from "../../models/checkpoint.ts";
import type { DecoderConfig, ValueHead } from "../../models/config.ts";
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
  withValueHead,
  type Adapter,
  type LoraConfig,
} from "../../models/lora/lora.ts";
import { parameterCount, parameterSpecs, tensorsOf, VALUE_HEAD } from "../../models/parameters.ts";
import { requireAsRecorded } from "../../models/recorded-files.ts";
import { readSafetensors, writeSafetensors } from "../../models/safetensors.ts";
import type { SaveOptions } from "../engine.ts";
import type { OptimizerState, TrainingState } from "./messages.ts";

/** New adapters. */
export interface FreshLora extends Omit<LoraConfig, "valueHead"> {
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
export type TrainedModel = { config: DecoderConfig; lora: LoraConfig | null; base: string };

const OPTIMIZER_FILE = "optimizer.safetensors";
/** Folder of a critic with its own decoder, within a checkpoint's. */
export const CRITIC_FOLDER = "critic";
/** Of a policy's trunk, apart from its weights, which other programs then read as a policy's. */
const VALUE_HEAD_FILE = "value-head.safetensors";
const STATE_FILE = "training-state.json";

/** Whether a file of a checkpoint is read where nothing is trained: the optimizer's state is twice as large as the weights. */
export function isOfPolicy(name: string): boolean {
  return name !== OPTIMIZER_FILE && !name.startsWith(CRITIC_FOLDER);
}

/** Whether a file of a checkpoint belongs to its training state alone. */
export function isTrainingState(name: string): boolean {
  return name === STATE_FILE || !isOfPolicy(name);
}

/** Whether a folder contains a training state. */
export function hasTrainingState(folder: string): boolean {
  return existsSync(join(folder, STATE_FILE));
}

/**
 * Opens a model's folder, or an adapter's folder and that of its base.
 * @param options.base of an adapter; default: the one in `adapter_config.json`. lora: new adapters, or those that the folder must contain.
 * valueHead: a critic's, beside or instead of the output matrix. @throws {ConfigError} RECIPE_BAD_VALUE when adapters differ.
 */
export async function openModel(
  model: string,
  options: {
    base?: string | undefined;
    lora?: FreshLora | undefined;
    valueHead?: ValueHead | undefined;
  },
): Promise<OpenedModel> {
  const { lora, valueHead } = options;
  const headed = (config: DecoderConfig, adapter: Adapter): Adapter =>
    withValueHead(config, adapter, valueHead !== undefined);
  if (!isAdapterFolder(model)) {
    const config = await readDecoderConfig(model);
    if (lora !== undefined)
      return { config, adapter: headed(config, freshAdapter(config, lora)), base: model };
    const whole = valueHead === undefined ? config : { ...config, valueHead };
    return { config: whole, adapter: null, base: model };
  }
  const base = options.base ?? (await baseOfAdapter(model));
  const config = await readDecoderConfig(base);
  const adapter = headed(config, await readAdapter(model, config));
  if (lora !== undefined && !isSame(config, plain(adapter.lora), plain(lora))) {
    const message = `policy.lora is ${quote(plain(lora))}: ${model} contains adapters with ${quote(adapter.lora)}, and only these can be trained. Remove policy.lora, or start from the base, ${base}.`;
    throw new ConfigError("RECIPE_BAD_VALUE", message);
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

/** Saves a Hugging Face folder, or PEFT's layout with the base's name (`merged`: always the former). @throws FILE_WRITE_FAILED */
export async function saveTrained(
  folder: string,
  { config, lora, base }: TrainedModel,
  state: TrainingState & { policyVersion: number },
  options: SaveOptions,
): Promise<void> {
  const dtype = options.dtype ?? "F32";
  if (lora === null) {
    const checkpoint = withoutValueHead({ config, weights: state.weights });
    await writeCheckpoint(folder, checkpoint, { dtype, tokenizerFrom: base });
  } else if (options.merged === true) {
    const whole = await readCheckpoint(base);
    mergeAdapter(config, whole.weights, { lora, weights: state.weights });
    await writeCheckpoint(folder, whole, { dtype, tokenizerFrom: base });
    return;
  } else {
    const adapter = withValueHead(config, { lora, weights: state.weights }, false);
    await writeAdapter(folder, config, adapter, { base: resolve(base), dtype });
  }
  if (options.optimizer !== true) return;
  const { optimizer, policyVersion } = state;
  const specs = trainedSpecs(config, lora);
  if (headIsApart({ config, lora })) {
    const head = tensorsOf(specs, state.weights).filter(({ name }) => name === VALUE_HEAD);
    await writeSafetensors(join(folder, VALUE_HEAD_FILE), head, "F32");
  }
  const moments = (["mean", "square"] as const).flatMap((kind) =>
    tensorsOf(specs, optimizer[kind]).map((tensor) => ({
      ...tensor,
      name: `${kind}.${tensor.name}`,
    })),
  );
  await writeSafetensors(join(folder, OPTIMIZER_FILE), moments, "F32");
  // Written last: its presence means that the folder is complete.
  await writeJson(join(folder, STATE_FILE), { step: optimizer.step, policyVersion });
}

/**
 * Loads a folder from `saveTrained`, without its optimiser's state where that is not wanted; version 0 and no moments when the folder has no state. A value head that it does not have begins at 0.
 * @throws {DataError} CHECKPOINT_CHANGED when its files are not those that were recorded; CHECKPOINT_MISFIT when its adapters differ; read errors.
 */
export async function loadTrained(
  folder: string,
  { config, lora }: TrainedModel,
  { state: wanted = true } = {},
): Promise<{ weights: Float32Array; optimizer: OptimizerState | null; policyVersion: number }> {
  await requireAsRecorded(folder, wanted ? undefined : isOfPolicy);
  const weights =
    lora === null ? await wholeWeights(folder, config) : await adapterWeights(folder, config, lora);
  const specs = trainedSpecs(config, lora);
  const head = join(folder, VALUE_HEAD_FILE);
  if (headIsApart({ config, lora }) && existsSync(head)) {
    const read = (await readSafetensors(head)).get(VALUE_HEAD);
    const own = tensorsOf(specs, weights).find(({ name }) => name === VALUE_HEAD);
    if (read !== undefined) own?.data.set(read.data);
  }
  if (!wanted || !hasTrainingState(folder)) return { weights, optimizer: null, policyVersion: 0 };
  const state = await readState(folder);
  const path = join(folder, OPTIMIZER_FILE);
  const tensors = await readSafetensors(path);
  const moments = (kind: string): Float32Array => {
    const own = [...tensors].filter(([name]) => name.startsWith(`${kind}.`));
    const named = own.map(([name, tensor]) => [name.slice(kind.length + 1), tensor] as const);
    const begun = specs.filter(({ name }) => name === VALUE_HEAD);
    const zeros = begun.map(
      (spec) => [spec.name, { ...spec, data: new Float32Array(sizeOf(spec.shape)) }] as const,
    );
    return flattenAs(specs, new Map([...zeros, ...named]), path);
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

/** Whether a value head is on a policy's trunk or beside adapters, so that it has a file of its own. */
function headIsApart({ config, lora }: Pick<TrainedModel, "config" | "lora">): boolean {
  return config.valueHead === "beside" || lora?.valueHead === true;
}

async function wholeWeights(folder: string, config: DecoderConfig): Promise<Float32Array> {
  const weights = new Float32Array(parameterCount(config));
  await readWeights(folder, config, weights);
  return weights;
}

function withoutValueHead({ config, weights }: Checkpoint): Checkpoint {
  if (config.valueHead !== "beside") return { config, weights };
  const { valueHead: _, ...plain } = config;
  const kept = tensorsOf(parameterSpecs(config), weights).filter(({ name }) => name !== VALUE_HEAD);
  const tensors = new Map(kept.map((tensor) => [tensor.name, tensor]));
  return { config: plain, weights: flattenAs(parameterSpecs(plain), tensors, "the policy") };
}

async function adapterWeights(
  folder: string,
  config: DecoderConfig,
  lora: LoraConfig,
): Promise<Float32Array> {
  const read = await readAdapter(folder, config);
  const found = withValueHead(config, read, lora.valueHead === true);
  if (!isSame(config, found.lora, lora)) {
    const message = `${folder}: contains adapters with ${quote(found.lora)}, but this run trains ${quote(lora)}. Resume with the original settings.`;
    throw new DataError("CHECKPOINT_MISFIT", message);
  }
  return found.weights;
}

import { existsSync } from "node:fs";
import { join } from "node:path";
import { DataError } from "../../base/errors.ts";
import { readJson, writeJson } from "../../base/files.ts";
import { checkOptions, quote, z } from "../../base/schema.ts";
import { flattenAs } from "../checkpoint.ts";
import type { DecoderConfig } from "../config.ts";
import { tensorsOf } from "../parameters.ts";
import { readSafetensors, writeSafetensors } from "../safetensors.ts";
import type { StoredType } from "../stored-numbers.ts";
import { hasWeights } from "../weight-files.ts";
import { layersOf, linearSpecs, loraSpecs } from "./lora.ts";
import { targetModules } from "./target-modules.ts";
import type { Adapter, LoraConfig } from "./lora.ts";

export const ADAPTER_CONFIG = "adapter_config.json";
export const ADAPTER_WEIGHTS = "adapter_model.safetensors";

/** PEFT's prefix of layer paths. */
const PREFIX = "base_model.model.";

/** Keys that affect the computation or identify the adapter. Initialisations that change the base are not supported; others need no support. */
const schema = z.object({
  peft_type: z.literal("LORA"),
  task_type: z.literal("CAUSAL_LM").nullish(),
  base_model_name_or_path: z.string().nullish(),
  r: z.int().positive(),
  lora_alpha: z.number().positive(),
  lora_dropout: z.literal(0).default(0),
  target_modules: z.array(z.string()).min(1),
  bias: z.literal("none").default("none"),
  fan_in_fan_out: z.literal(false).default(false),
  use_rslora: z.boolean().default(false),
  init_lora_weights: z.literal([true, false, "gaussian", "orthogonal"]).default(true),
});

/** Keys without effect on the computation. */
const IGNORED: ReadonlySet<string> = new Set([
  ...["inference_mode", "revision", "auto_mapping", "peft_version"],
  ...["megatron_core", "qalora_group_size"],
]);

/**
 * Reads PEFT's `adapter_config.json`.
 *
 * @param config of the model to adapt.
 * @param where the file, for messages.
 * @throws {DataError} ADAPTER_UNSUPPORTED with the key, its value and the allowed values: another adapter type, an unsupported
 *   option, or a target that the model does not have.
 */
export function parseAdapterConfig(
  json: unknown,
  config: DecoderConfig,
  where: string,
): LoraConfig {
  const fail = (what: string): DataError =>
    new DataError("ADAPTER_UNSUPPORTED", `${where}: ${what}`);
  const keys = keysOf(json, where);
  for (const [key, value] of Object.entries(keys)) {
    if (Object.hasOwn(schema.shape, key) || IGNORED.has(key) || isNothing(value)) continue;
    throw fail(
      `${key} is ${quote(value)}: allowed: null, false or {}, because agentrl does not support such adapters. Merge the adapter into its base with PEFT and use the result.`,
    );
  }
  const named = keys["target_modules"] === "all-linear" ? targetModules : keys["target_modules"];
  const result = checkOptions(schema, { ...keys, target_modules: named });
  if (result.problem !== null)
    throw fail(`${result.problem.path.join(".")} ${result.problem.message}`);
  const { r, lora_alpha, use_rslora, target_modules } = result.value;
  const weights = linearSpecs(config).map(({ name }) => name);
  const stray = target_modules.find((target) => layersOf(target, weights).length === 0);
  if (stray !== undefined)
    throw fail(
      `target_modules contains ${quote(stray)}, which matches no adaptable layer of the model: allowed: "all-linear", or a list of ${targetModules.join(", ")} or paths that end in them.`,
    );
  return { rank: r, alpha: lora_alpha, rslora: use_rslora, targets: target_modules };
}

function keysOf(json: unknown, where: string): Record<string, unknown> {
  if (typeof json === "object" && json !== null && !Array.isArray(json))
    return json as Record<string, unknown>;
  throw new DataError(
    "ADAPTER_UNSUPPORTED",
    `${where}: is ${quote(json)}: expected keys and values, including peft_type.`,
  );
}

function isNothing(value: unknown): boolean {
  return value === null || value === false || ["{}", "[]"].includes(JSON.stringify(value));
}

/** Whether a folder contains an adapter and no model weights; it may contain a copy of its base's `config.json`. */
export function isAdapterFolder(folder: string): boolean {
  return existsSync(join(folder, ADAPTER_CONFIG)) && !hasWeights(folder);
}

/**
 * The base model of a folder's adapter, as named in its `adapter_config.json`: a folder, or a name on the hub.
 * @throws {DataError} ADAPTER_UNSUPPORTED when it is missing.
 */
export async function baseOfAdapter(folder: string): Promise<string> {
  const where = join(folder, ADAPTER_CONFIG);
  const base = keysOf(await readJson(where), where)["base_model_name_or_path"];
  if (typeof base === "string" && base !== "") return base;
  throw new DataError(
    "ADAPTER_UNSUPPORTED",
    `${where}: base_model_name_or_path is ${quote(base)}: expected the folder or the name of the base model. Add it to the file.`,
  );
}

/**
 * Reads a folder in PEFT's layout: `adapter_config.json` and `adapter_model.safetensors`.
 *
 * @param config of the model to adapt.
 * @throws {DataError} the errors of `parseAdapterConfig`; CHECKPOINT_MISFIT with the tensor that is missing, has another shape, or is
 *   unexpected; FILE_MISSING, FILE_NOT_JSON, SAFETENSORS_BAD.
 */
export async function readAdapter(folder: string, config: DecoderConfig): Promise<Adapter> {
  const where = join(folder, ADAPTER_CONFIG);
  const path = join(folder, ADAPTER_WEIGHTS);
  const tensors = await readSafetensors(path);
  const lora = parseAdapterConfig(withTargets(await readJson(where), tensors), config, where);
  const specs = loraSpecs(config, lora).map((spec) => ({ ...spec, name: PREFIX + spec.name }));
  return { lora, weights: flattenAs(specs, tensors, path, ADAPTER_CONFIG) };
}

/** Layers' names from the tensors where the configuration leaves them out (`target_modules: null`), as SkyRL 0.4 with JAX does. */
function withTargets(json: unknown, tensors: ReadonlyMap<string, unknown>): unknown {
  if ((json as { target_modules?: unknown } | null)?.target_modules !== null) return json;
  const end = ".lora_A.weight";
  const layers = [...tensors.keys()].filter(
    (name) => name.startsWith(PREFIX) && name.endsWith(end),
  );
  return {
    ...(json as object),
    target_modules: layers.map((name) => name.slice(PREFIX.length, -end.length)),
  };
}

/**
 * Writes a folder that PEFT reads: `PeftModel.from_pretrained(base, folder)`.
 * @param options.base the base model, a folder or a name on the hub, written into the adapter's config.
 * @throws {ExternalError} FILE_WRITE_FAILED
 */
export async function writeAdapter(
  folder: string,
  config: DecoderConfig,
  { lora, weights }: Adapter,
  options: { base: string; dtype: StoredType },
): Promise<void> {
  const tensors = tensorsOf(loraSpecs(config, lora), weights).map((tensor) => {
    return { ...tensor, name: PREFIX + tensor.name };
  });
  await writeSafetensors(join(folder, ADAPTER_WEIGHTS), tensors, options.dtype);
  await writeJson(join(folder, ADAPTER_CONFIG), {
    peft_type: "LORA",
    task_type: "CAUSAL_LM",
    base_model_name_or_path: options.base,
    r: lora.rank,
    lora_alpha: lora.alpha,
    lora_dropout: 0,
    target_modules: lora.targets,
    bias: "none",
    fan_in_fan_out: false,
    use_rslora: lora.rslora,
    init_lora_weights: true,
    modules_to_save: null,
    inference_mode: true,
    rank_pattern: {},
    alpha_pattern: {},
  });
}

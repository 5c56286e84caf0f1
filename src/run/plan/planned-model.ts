import { stat } from "node:fs/promises";
import { join } from "node:path";
import { ConfigError, DataError } from "../../base/errors.ts";
import { readJson } from "../../base/files.ts";
import { suggest } from "../../base/nearest.ts";
import { cachePlace, hubNameText, hubSettings, parseHubName } from "../../hub/hub-cache.ts";
import { readDecoderConfig, storedTypeOf } from "../../models/checkpoint.ts";
import type { DecoderConfig } from "../../models/config.ts";
import { describeGguf } from "../../models/gguf/convert-gguf.ts";
import {
  ADAPTER_CONFIG,
  baseOfAdapter,
  isAdapterFolder,
  parseAdapterConfig,
} from "../../models/lora/adapter-folder.ts";
import type { LoraConfig } from "../../models/lora/lora.ts";
import { publishedShapes } from "../../models/published-shapes.ts";
import type { StoredType } from "../../models/stored-numbers.ts";
import { findBase, folderOfName, knownNames } from "../bases.ts";
import { freshConfig } from "../fresh-policy.ts";
import { isGgufName } from "../gguf-policy.ts";
import { namedModel } from "../named-models.ts";
import type { Settings } from "../settings/settings-schema.ts";

/** As much of a model as a plan needs: its shape, not its weights. */
export interface PlannedModel {
  /** As a recipe names it, or `fresh`. */
  from: string;
  config: DecoderConfig;
  /** Adapters that its folder holds, which are then what is trained. */
  lora: LoraConfig | null;
  /** Where its weights lie; null where they are not here. */
  folder: string | null;
  /** How the matrices are stored that adapters leave as they are; null where nobody knows. */
  stored: StoredType | null;
}

/**
 * The shape of the policy that a recipe names: from its folder or GGUF file, the cache of the hub's models, or the table of published shapes.
 * Nothing is downloaded.
 * @throws {ConfigError} MODEL_NAME for what is neither folder nor name; PLAN_MODEL_ABSENT for a model of the hub that is not here.
 * @throws {DataError} what `readDecoderConfig` throws.
 */
export async function plannedModel({
  policy: { from, fresh },
  environment,
}: Pick<Settings, "policy" | "environment">): Promise<PlannedModel> {
  if (fresh === undefined) return plannedFolder(from);
  const config = freshConfig(fresh, environment);
  return { from: "fresh", config, lora: null, folder: null, stored: "F32" };
}

/** `plannedModel` of a policy that exists. */
async function plannedFolder(from: string): Promise<PlannedModel> {
  const folder = await folderOfName(from);
  if (await isFolder(folder)) return ofFolder(from, folder);
  if (isGgufName(from)) return ofGguf(from);
  const named = namedModel(from);
  if (named !== undefined) return { ...(await plannedFolder(named.shape)), from };
  const base = await findBase(from);
  // A base that is not made yet has the shape of its parent.
  if (base !== null) return { ...(await plannedModel(base.resolved.settings)), from, folder: null };
  const name = parseHubName(from);
  if (name === null) {
    throw new ConfigError(
      "MODEL_NAME",
      `${from}: is no folder here, and no name of a model on the hub (org/name or org/name@revision). Give a folder with a config.json, or such a name. ${suggest(from, knownNames())}`,
    );
  }
  const { cache } = hubSettings();
  const place = cachePlace(cache, name);
  const commit = await place.commitOf(name.revision);
  if (commit !== null && (await isFolder(place.snapshot(commit)))) {
    return ofFolder(from, place.snapshot(commit));
  }
  // Models that follow instructions have the shape of the base that they were made from.
  const ofBase = name.repository.replace(/-Instruct$/, "");
  const published = publishedShapes.find((shape) => shape.name === ofBase);
  // Whatever is in that table was published so.
  if (published !== undefined) {
    return { from, config: published.config, lora: null, folder: null, stored: "BF16" };
  }
  throw new ConfigError(
    "PLAN_MODEL_ABSENT",
    `${hubNameText(name)}: is not in ${cache}, and its shape is not among those that are known here (${publishedShapes.map((shape) => shape.name).join(", ")}). Put its config.json into a folder and give that with --model; agentrl train downloads the whole model.`,
  );
}

async function ofFolder(from: string, folder: string): Promise<PlannedModel> {
  if (!isAdapterFolder(folder)) {
    const config = await readDecoderConfig(folder);
    return { from, config, lora: null, ...(await weightsIfThere(folder)) };
  }
  const base = await baseOfAdapter(folder);
  const { config, stored, folder: whole } = await plannedFolder(base);
  const where = join(folder, ADAPTER_CONFIG);
  const lora = parseAdapterConfig(await readJson(where), config, where);
  return { from, config, lora, folder: whole === null ? null : folder, stored };
}

/** A GGUF file that is not converted yet. */
async function ofGguf(from: string): Promise<PlannedModel> {
  const { config, dtype } = await describeGguf(from);
  return { from, config, lora: null, folder: null, stored: dtype };
}

/** A plan needs a folder's config.json alone. */
async function weightsIfThere(folder: string): Promise<Pick<PlannedModel, "folder" | "stored">> {
  try {
    return { folder, stored: await storedTypeOf(folder) };
  } catch (error) {
    if (error instanceof DataError && error.code === "FILE_MISSING") {
      return { folder: null, stored: null };
    }
    throw error;
  }
}

async function isFolder(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );
}

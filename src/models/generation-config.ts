import { existsSync } from "node:fs";
import { join } from "node:path";
import { DataError } from "../base/errors.ts";
import { readJson } from "../base/files.ts";
import { checkOptions, z } from "../base/schema.ts";

/** A model's recommended sampling settings. null: not specified. */
export interface GenerationConfig {
  /** Any of these ends a completion; empty when unknown. */
  eosIds: readonly number[];
  bosId: number | null;
  padId: number | null;
  /** false: greedy decoding, whatever the other values are. */
  doSample: boolean | null;
  temperature: number | null;
  topP: number | null;
  /** 0: off. */
  topK: number | null;
  minP: number | null;
  /** 1: off. */
  repetitionPenalty: number | null;
  maxNewTokens: number | null;
  stopStrings: readonly string[];
  /** All other keys of the file, unchanged, so that a caller can name those it ignores. */
  others: Readonly<Record<string, unknown>>;
}

const id = z.int().nonnegative();
const tokenKeys = {
  eos_token_id: z
    .union([id, z.array(id)], { error: "expected a token id or a list of them" })
    .nullish(),
  bos_token_id: id.nullish(),
  pad_token_id: id.nullish(),
};
const fileSchema = z.looseObject({
  ...tokenKeys,
  do_sample: z.boolean().nullish(),
  temperature: z.number().nonnegative().nullish(),
  top_p: z.number().positive().max(1).nullish(),
  // vLLM writes −1 for "all".
  top_k: z.int().min(-1).nullish(),
  min_p: z.number().min(0).max(1).nullish(),
  repetition_penalty: z.number().positive().nullish(),
  max_new_tokens: z.int().positive().nullish(),
  stop_strings: z
    .union([z.string(), z.array(z.string())], { error: "expected text or a list of texts" })
    .nullish(),
});

/**
 * Reads a folder's `generation_config.json`; without one, the token ids of its `config.json`, where older models store them.
 * @throws {DataError} GENERATION_CONFIG_BAD with the key of the invalid value.
 */
export async function readGenerationConfig(folder: string): Promise<GenerationConfig> {
  const own = join(folder, "generation_config.json");
  if (existsSync(own)) return parseGenerationConfig(await readJson(own), own);
  const model = join(folder, "config.json");
  const keys = (await readJson(model)) as Partial<Record<keyof typeof tokenKeys, unknown>>;
  const { eos_token_id, bos_token_id, pad_token_id } = keys;
  return parseGenerationConfig({ eos_token_id, bos_token_id, pad_token_id }, model);
}

function parseGenerationConfig(json: unknown, where: string): GenerationConfig {
  const result = checkOptions(fileSchema, json);
  if (result.problem !== null) {
    const { path, message } = result.problem;
    throw new DataError("GENERATION_CONFIG_BAD", `${where}: ${path.join(".")} ${message}`);
  }
  const keys = result.value;
  const known = Object.keys(fileSchema.shape);
  const others = Object.entries(keys).filter(([key]) => !known.includes(key));
  return {
    eosIds: listOf(keys.eos_token_id),
    bosId: keys.bos_token_id ?? null,
    padId: keys.pad_token_id ?? null,
    doSample: keys.do_sample ?? null,
    temperature: keys.temperature ?? null,
    topP: keys.top_p ?? null,
    topK: keys.top_k == null ? null : Math.max(0, keys.top_k),
    minP: keys.min_p ?? null,
    repetitionPenalty: keys.repetition_penalty ?? null,
    maxNewTokens: keys.max_new_tokens ?? null,
    stopStrings: listOf(keys.stop_strings),
    others: Object.fromEntries(others),
  };
}

function listOf<T>(value: T | readonly T[] | null | undefined): readonly T[] {
  if (value === null || value === undefined) return [];
  return Array.isArray(value) ? (value as readonly T[]) : [value as T];
}

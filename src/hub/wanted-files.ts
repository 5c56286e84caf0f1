import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { exists, readJson } from "../base/files.ts";

/** Files to download besides the weights: configuration, tokenizer, chat templates. */
const BESIDE_WEIGHTS =
  /^(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab)\.json$|^(merges\.txt|tokenizer\.model|chat_template\.jinja)$|^additional_chat_templates\/[\w.-]+\.jinja$/;
const WEIGHTS_INDEX = "model.safetensors.index.json";
const SHARD = /^model-\d+-of-\d+\.safetensors$/;
const WHOLE = "model.safetensors";
const ADAPTER = /^adapter_(config\.json|model\.safetensors)$/;

/**
 * The files of a repository that a model needs: no weights in other formats, no duplicates.
 * @returns null when files of a model are missing.
 */
export function wantedFiles(files: readonly string[]): string[] | null {
  const sharded = files.includes(WEIGHTS_INDEX);
  const weights = files.filter((file) =>
    sharded ? file === WEIGHTS_INDEX || SHARD.test(file) : file === WHOLE,
  );
  const adapter = files.filter((file) => ADAPTER.test(file));
  const isDescribed = ["config.json", "tokenizer.json"].every((file) => files.includes(file));
  const whole = isDescribed && weights.length > (sharded ? 1 : 0);
  if (!whole && adapter.length < 2) return null;
  return [...files.filter((file) => BESIDE_WEIGHTS.test(file)), ...weights, ...adapter];
}

/** Whether a snapshot contains a complete model, with every shard. */
export async function isWholeModel(snapshot: string): Promise<boolean> {
  const names = await readdir(snapshot).catch(() => []);
  const present: string[] = [];
  for (const name of names) if (await exists(join(snapshot, name))) present.push(name);
  if (wantedFiles(present) === null) return false;
  if (!present.includes(WEIGHTS_INDEX)) return true;
  const index = (await readJson(join(snapshot, WEIGHTS_INDEX)).catch(() => null)) as {
    weight_map?: Record<string, string>;
  } | null;
  const shards = new Set(Object.values(index?.weight_map ?? {}));
  return shards.size > 0 && [...shards].every((shard) => present.includes(shard));
}

import { existsSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS } from "../../models/lora/adapter-folder.ts";
import { sha256 } from "../../base/files.ts";
import { sha256Once } from "../../models/recorded-files.ts";

/**
 * A hash of what decides what a model writes: configuration, weights (in one file, or shards with their index) and tokenizer; of
 * adapters, their own configuration and weights and all that of their base. A folder for a training server may have no weights.
 * @param base the folder of the adapters' base; null for a whole model.
 * @throws {DataError} FILE_MISSING naming the file that a folder lacks.
 */
export async function hashOfPolicy(folder: string, base: string | null = null): Promise<string> {
  if (base !== null) {
    const own = [ADAPTER_CONFIG, ADAPTER_WEIGHTS].map((file) => sha256Once(join(folder, file)));
    return sha256([...(await Promise.all(own)), await hashOfPolicy(base)].join());
  }
  const files = ["config.json", ...(await weightFiles(folder)), "tokenizer.json"];
  const hashes: string[] = [];
  for (const file of files) hashes.push(await sha256Once(join(folder, file)));
  return sha256(hashes.join());
}

const WHOLE = "model.safetensors";
const INDEX = "model.safetensors.index.json";

async function weightFiles(folder: string): Promise<string[]> {
  if (existsSync(join(folder, WHOLE))) return [WHOLE];
  if (!existsSync(join(folder, INDEX))) return [];
  const names = await readdir(folder);
  return [INDEX, ...names.filter((name) => /^model-.*\.safetensors$/.test(name)).sort()];
}

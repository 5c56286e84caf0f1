import { existsSync } from "node:fs";
import { copyFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { ConfigError, DataError } from "../../base/errors.ts";
import { readJson, writeFileAtomic, writeJson } from "../../base/files.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { tarContent } from "../../data/cards/tar.ts";
import { readCheckpoint, writeCheckpoint } from "../../models/checkpoint.ts";
import {
  ADAPTER_CONFIG,
  ADAPTER_WEIGHTS,
  isAdapterFolder,
  readAdapter,
} from "../../models/lora/adapter-folder.ts";
import { mergeAdapter } from "../../models/lora/lora.ts";
import type { StoredType } from "../../models/stored-numbers.ts";

/** What a checkpoint of a remote engine holds: where the server keeps the weights. */
const REMOTE_FILE = "remote-weights.json";

const remoteSchema = z.object({
  /** Address of the server, without secrets. */
  server: z.string(),
  /** Its name of the base model. */
  model: z.string(),
  /** `tinker://…` */
  path: z.string(),
  /** Whether it is loaded with the optimizer's state. */
  optimizer: z.boolean(),
  policyVersion: z.int(),
  /** Folder of the base here: tokenizer and config.json. */
  base: z.string(),
});

export type RemoteWeights = z.output<typeof remoteSchema>;

/** Whether a folder's weights are at a server. */
export function isRemoteFolder(folder: string): boolean {
  return existsSync(join(folder, REMOTE_FILE));
}

export function writeRemote(folder: string, weights: RemoteWeights): Promise<void> {
  return writeJson(join(folder, REMOTE_FILE), weights);
}

/** @throws {DataError} CHECKPOINT_MISFIT when the folder names no checkpoint of this server. */
export async function readRemote(folder: string, server: string): Promise<RemoteWeights> {
  const where = join(folder, REMOTE_FILE);
  const found = isRemoteFolder(folder) ? checkOptions(remoteSchema, await readJson(where)) : null;
  if (found === null || found.problem !== null)
    throw new DataError(
      "CHECKPOINT_MISFIT",
      `${where}: ${found === null ? "does not exist" : `${found.problem.path.join(".")} ${found.problem.message}`}. This checkpoint was not made by engine.name: tinker; continue with the engine that made it.`,
    );
  if (found.value.server === server) return found.value;
  const message = `${where}: the weights are at ${found.value.server}, but engine.url is ${server}. Use that server, or change "server" in the file if it is the same one at another address.`;
  throw new DataError("CHECKPOINT_MISFIT", message);
}

/** The folder of the base that saved weights belong to. */
export async function baseOfRemote(folder: string): Promise<string> {
  return remoteSchema.parse(await readJson(join(folder, REMOTE_FILE))).base;
}

/** Merges the adapter that a server exports into the local base. @throws {ConfigError} ENGINE_UNFIT when either is missing. */
export async function exportMerged(
  folder: string,
  { archive, base, dtype }: { archive: Uint8Array | URL | null; base: string; dtype: StoredType },
): Promise<void> {
  if (archive === null || (archive instanceof URL && adapterAt(archive) === null)) return;
  await unpackAdapter(folder, archive);
  const whole = await readCheckpoint(base);
  mergeAdapter(whole.config, whole.weights, await readAdapter(folder, whole.config));
  await writeCheckpoint(folder, whole, { dtype, tokenizerFrom: base });
  for (const name of [ADAPTER_CONFIG, ADAPTER_WEIGHTS, REMOTE_FILE])
    await rm(join(folder, name), { force: true });
}

/**
 * Writes PEFT's two files of an exported adapter. @param archive tar.gz, or the address of the server's folder (TuFT), maybe local.
 * @throws {ConfigError} ENGINE_UNFIT when one is missing.
 */
export async function unpackAdapter(folder: string, archive: Uint8Array | URL): Promise<void> {
  if (archive instanceof URL) return copyAdapter(folder, archive);
  const packed = join(folder, "adapter.tar.gz");
  await writeFile(packed, archive);
  try {
    for (const name of FILES) {
      const content = await tarContent(packed, (path) => path.endsWith(name));
      if (content === null) throw incomplete(`the adapter that the training server exports has no ${name}`);
      await writeFileAtomic(join(folder, name), await buffer(content));
    }
  } finally {
    await rm(packed, { force: true });
  }
} // prettier-ignore

const FILES = [ADAPTER_CONFIG, ADAPTER_WEIGHTS];

async function copyAdapter(folder: string, address: URL): Promise<void> {
  const found = adapterAt(address);
  if (found === null)
    throw incomplete(
      `the training server keeps the adapter in ${address.href}, which is no folder of an adapter on this machine: give the server an absolute path on a disk that both share`,
    );
  for (const name of FILES) await copyFile(join(found, name), join(folder, name));
}

function adapterAt(address: URL): string | null {
  // A path that is relative to the server's folder has a host in its address.
  if (address.host !== "") return null;
  const at = fileURLToPath(address);
  return [at, join(at, "adapter")].find((each) => isAdapterFolder(each)) ?? null;
}

function incomplete(what: string): ConfigError {
  return new ConfigError("ENGINE_UNFIT", `${what}. The weights stay at that server.`);
}

import { createWriteStream, existsSync } from "node:fs";
import { copyFile, rm } from "node:fs/promises";
import { basename, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { ConfigError, DataError } from "../../base/errors.ts";
import { readJson, writeJson } from "../../base/files.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { tarFiles } from "../../data/cards/tar.ts";
import { copyCompanions, readCheckpoint, writeCheckpoint } from "../../models/checkpoint.ts";
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

/** What a server exports of a model: an archive in `ARCHIVE` of the folder, or an address. */
type Exported = "written" | URL;

/** The file of a folder in which an archive lies until it is unpacked. */
export const ARCHIVE = "exported.tar";

/** Merges the adapter that a server exports into the local base; nothing for a folder that is not on this machine. @throws as `unpackAdapter` */
export async function exportMerged(
  folder: string,
  { exported, base, dtype }: { exported: Exported; base: string; dtype: StoredType },
): Promise<void> {
  if (exported instanceof URL && adapterAt(exported) === null) return;
  await unpackAdapter(folder, exported);
  const whole = await readCheckpoint(base);
  mergeAdapter(whole.config, whole.weights, await readAdapter(folder, whole.config));
  await writeCheckpoint(folder, whole, { dtype, tokenizerFrom: base });
  for (const name of [ADAPTER_CONFIG, ADAPTER_WEIGHTS, REMOTE_FILE])
    await rm(join(folder, name), { force: true });
}

/**
 * Writes PEFT's two files of an exported adapter. @param exported a written archive, or the address of the server's folder (TuFT), maybe local.
 * @throws {ConfigError} ENGINE_UNFIT when one is missing.
 */
export async function unpackAdapter(folder: string, exported: Exported): Promise<void> {
  if (exported instanceof URL) return copyAdapter(folder, exported);
  const written = await unpackFiles(folder, (name) => FILES.includes(name));
  const missing = FILES.find((name) => !written.includes(name));
  if (missing !== undefined)
    throw incomplete(`the adapter that the training server exports has no ${missing}`);
}

/**
 * Writes the whole model that a server exports, its weights as the server stores them, with the tokenizer of the base where the archive has none.
 * @throws {ConfigError} ENGINE_UNFIT when the archive has no weights.
 */
export async function unpackModel(folder: string, base: string): Promise<void> {
  const written = await unpackFiles(folder, (name) => /\.(safetensors|json|jinja|txt|model)$/.test(name));
  if (!written.some((name) => name.endsWith(".safetensors")))
    throw incomplete(`the model that the training server exports has no file *.safetensors (it has ${written.join(", ") || "no file"})`);
  await copyCompanions(base, folder);
  await rm(join(folder, REMOTE_FILE), { force: true });
} // prettier-ignore

async function unpackFiles(folder: string, wanted: (name: string) => boolean): Promise<string[]> {
  const packed = join(folder, ARCHIVE);
  const written: string[] = [];
  try {
    for await (const { path, content } of tarFiles(packed)) {
      const name = basename(path);
      if (!wanted(name)) continue;
      await pipeline(content, createWriteStream(join(folder, name)));
      written.push(name);
    }
  } finally {
    await rm(packed, { force: true });
  }
  return written;
}

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

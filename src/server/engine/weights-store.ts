import { existsSync } from "node:fs";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { readJson } from "../../base/files.ts";
import type { PolicyEngine } from "../../engine/engine.ts";
import { isTrainingState } from "../../engine/open-engine.ts";
import {
  ADAPTER_CONFIG,
  ADAPTER_WEIGHTS,
  isAdapterFolder,
} from "../../models/lora/adapter-folder.ts";
import type { LoraConfig } from "../../models/lora/lora.ts";
import { hasWeights } from "../../models/weight-files.ts";
import { ApiError } from "./request-body.ts";

/** weights: to train on from, with the optimizer's state. sampler_weights: to sample from, and to export. */
type WeightsKind = "weights" | "sampler_weights";

/** Saved weights by address, `tinker://MODEL/KIND/NAME`, in folders that outlive the server. */
export interface WeightsStore {
  /** @returns the address. @throws {ApiError} 409 when the name exists. */
  save(
    engine: PolicyEngine,
    at: { model: string; kind: WeightsKind; name: string; overwrite: boolean },
  ): Promise<string>;
  /** The folder of an address. @throws {ApiError} 400, 404 */
  folder(address: string): string;
  /** Configuration of the saved adapters; null: all weights were saved. @throws {ApiError} 404 */
  lora(address: string): Promise<LoraConfig | null>;
  /** PEFT's files, or those of the whole model, as tar.gz. */
  archive(address: string): Promise<Buffer>;
  remove(address: string): Promise<void>;
  /** A folder for a moment's use. */
  scratch(model: string): string;
}

/** Of what `writeAdapter` wrote. */
interface SavedConfig {
  r: number;
  lora_alpha: number;
  target_modules: string[];
  use_rslora: boolean;
}

const ADDRESS = /^tinker:\/\/([\w.:-]+)\/(weights|sampler_weights)\/([\w.-]+)$/;

/** @param root folder of everything that is saved. */
export function weightsStore(root: string): WeightsStore {
  // A colon, which models' ids have, is no part of a file's name everywhere.
  const modelFolder = (model: string): string => join(root, model.replaceAll(":", "_"));
  const folderOf = (address: string): string => {
    const [, model = "", kind = "", name = ""] = ADDRESS.exec(address) ?? [];
    if (model === "" || [model, name].some((part) => /^\.+$/.test(part)))
      throw new ApiError(400, `Bad checkpoint address: ${JSON.stringify(address)}`);
    return join(modelFolder(model), kind, name);
  };
  const existing = (address: string): string => {
    const folder = folderOf(address);
    if (isAdapterFolder(folder) || hasWeights(folder)) return folder;
    throw new ApiError(404, `Checkpoint not found: ${address}`);
  };
  return {
    async save(engine, { model, kind, name, overwrite }) {
      const address = `tinker://${model}/${kind}/${name}`;
      const folder = folderOf(address);
      if (existsSync(folder)) {
        if (!overwrite) throw new ApiError(409, `Checkpoint exists: ${address}`);
        await rm(folder, { recursive: true });
      }
      await engine.save(folder, { optimizer: kind === "weights" });
      return address;
    },
    folder: existing,
    async lora(address) {
      if (!isAdapterFolder(existing(address))) return null;
      const { r, lora_alpha, target_modules, use_rslora } = (await readJson(
        join(existing(address), ADAPTER_CONFIG),
      )) as SavedConfig;
      return { rank: r, alpha: lora_alpha, targets: target_modules, rslora: use_rslora };
    },
    async archive(address) {
      const folder = existing(address);
      const parts: Buffer[] = [];
      for (const name of await filesOfWeights(folder))
        parts.push(...tarEntry(name, await readFile(join(folder, name))));
      return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]));
    },
    remove: (address) => rm(folderOf(address), { recursive: true, force: true }),
    scratch: (model) => join(modelFolder(model), "scratch"),
  };
}

/** The files of saved weights, without the optimizer's state. */
export async function filesOfWeights(folder: string): Promise<string[]> {
  if (isAdapterFolder(folder)) return [ADAPTER_CONFIG, ADAPTER_WEIGHTS];
  return (await readdir(folder)).filter((name) => !isTrainingState(name));
}

const BLOCK = 512;

/** Header, content and padding of one file. Source: POSIX.1-1988 ustar. */
function tarEntry(name: string, content: Buffer): Buffer[] {
  const header = Buffer.alloc(BLOCK);
  const octal = (value: number, width: number): string =>
    `${value.toString(8).padStart(width - 1, "0")}\0`;
  header.write(name, 0);
  header.write(octal(0o644, 8), 100);
  header.write(octal(0, 8), 108);
  header.write(octal(0, 8), 116);
  header.write(octal(content.length, 12), 124);
  header.write(octal(0, 12), 136);
  header.write("        ", 148);
  header.write("0", 156);
  header.write("ustar\x0000", 257, "latin1");
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return [header, content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
}

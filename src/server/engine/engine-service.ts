/** What the routes of `serve engine` share: sessions with their models, samplers, futures and saved weights. */
import { existsSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { readJson } from "../../base/files.ts";
import type { PolicyEngine } from "../../engine/engine.ts";
import { openPolicyEngine, type PolicyEngineOptions } from "../../engine/open-engine.ts";
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS } from "../../models/lora/adapter-folder.ts";
import type { LoraConfig } from "../../models/lora/lora.ts";
import { openSamplers, type SamplerWeights } from "./engine-samplers.ts";
import { type FutureResult, openFutures } from "./futures.ts";
import { ApiError } from "./request-body.ts";
import { type ServedModel, servedModel } from "./served-model.ts";

/** What every model of the server shares. */
export type ServedBase = Omit<PolicyEngineOptions, "lora" | "trains" | "base" | "critic">;

export interface ServiceOptions {
  /** Folder of saved weights. */
  data: string;
  /** The name by which clients ask for the model. */
  name: string;
  /** Models that are trained at once, at most. */
  maxModels: number;
  /** Milliseconds without a heartbeat after which a session's models are closed. */
  sessionMs?: number;
  version: string;
  onError?: (error: unknown) => void;
}

export type EngineService = ReturnType<typeof openService>;

/** Sessions, models, samplers and saved weights of a server. */
export function openService(base: ServedBase, options: ServiceOptions) {
  const { name, maxModels, data, sessionMs = 300_000, onError = () => undefined } = options;
  const sessions = new Map<string, { seenAt: number; made: Map<number, string> }>();
  const models = new Map<string, ServedModel>();
  let opening = 0;
  const sampling = new Map<string, SamplerWeights>();
  const store = weightsStore(data);
  const futures = openFutures(onError);
  const samplers = openSamplers((folder) =>
    openPolicyEngine({
      ...base,
      trains: false,
      ...(folder === null ? {} : { model: folder, base: base.model }),
    }),
  );
  const closeModel = async (model: ServedModel): Promise<void> => {
    if (models.delete(model.id)) await model.close();
  };
  const sweep = async (idleMs: number): Promise<void> => {
    for (const [id, { seenAt }] of sessions) {
      if (performance.now() - seenAt < idleMs) continue;
      for (const model of [...models.values()].filter(({ sessionId }) => sessionId === id))
        await closeModel(model);
    }
  };
  const timer = setInterval(
    () => {
      sweep(sessionMs).catch(onError);
    },
    Math.min(sessionMs, 10_000),
  ).unref();
  return {
    options,
    futures,
    sessions,
    models,
    sampling,
    store,
    samplers,
    name,
    session(id: string) {
      const found = sessions.get(id);
      if (found === undefined) throw new ApiError(404, `Session not found: ${id}`);
      found.seenAt = performance.now();
      return found;
    },
    model(id: string): ServedModel {
      const found = models.get(id);
      if (found === undefined) throw new ApiError(404, `Model not found: ${id}`);
      const session = sessions.get(found.sessionId);
      if (session !== undefined) session.seenAt = performance.now();
      return found;
    },
    requireBase(asked: string): void {
      if (asked !== name)
        throw new ApiError(400, `Base model ${JSON.stringify(asked)} is not served: ${name}.`);
    },
    /** Makes a session's model once: the same numbers again are the same future. The model's id is what the SDK derives from them. */
    makeOnce(
      sessionId: string,
      number: number,
      make: (id: string) => Promise<FutureResult>,
    ): string {
      const { made } = this.session(sessionId);
      const known = made.get(number);
      if (known !== undefined) return known;
      const future = futures.begin(() => make(`${sessionId}:train:${number}`));
      made.set(number, future);
      return future;
    },
    async openModel(
      id: string,
      sessionId: string,
      lora: NonNullable<PolicyEngineOptions["lora"]>,
    ): Promise<ServedModel> {
      const count = (): number => models.size + opening;
      // Clients that ended without saying so keep no place that another needs.
      if (count() >= maxModels) await sweep(60_000);
      if (count() >= maxModels)
        throw new ApiError(
          400,
          `Maximum number of models (${maxModels}) reached. Unload one, or raise --max-models.`,
        );
      opening += 1;
      const engine = await openPolicyEngine({ ...base, lora }).finally(() => (opening -= 1));
      const model = servedModel({ id, sessionId, rank: lora.rank, engine }, futures);
      models.set(id, model);
      return model;
    },
    closeModel,
    async close() {
      clearInterval(timer);
      for (const model of [...models.values()]) await closeModel(model);
      await samplers.close();
    },
  };
}

/** weights: to train on from, with the optimizer's state. sampler_weights: to sample from, and to export. */
type WeightsKind = "weights" | "sampler_weights";

/** Saved weights by address, `tinker://MODEL/KIND/NAME`, in folders that outlive the server. */
interface WeightsStore {
  /** @returns the address. @throws {ApiError} 409 when the name exists. */
  save(
    engine: PolicyEngine,
    at: { model: string; kind: WeightsKind; name: string; overwrite: boolean },
  ): Promise<string>;
  /** The folder of an address. @throws {ApiError} 400, 404 */
  folder(address: string): string;
  /** Configuration of the saved adapters. @throws {ApiError} 404 */
  lora(address: string): Promise<LoraConfig>;
  /** PEFT's files as tar.gz. */
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

function weightsStore(root: string): WeightsStore {
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
    if (existsSync(join(folder, ADAPTER_WEIGHTS))) return folder;
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
      const { r, lora_alpha, target_modules, use_rslora } = (await readJson(
        join(existing(address), ADAPTER_CONFIG),
      )) as SavedConfig;
      return { rank: r, alpha: lora_alpha, targets: target_modules, rslora: use_rslora };
    },
    async archive(address) {
      const folder = existing(address);
      const parts: Buffer[] = [];
      for (const name of [ADAPTER_CONFIG, ADAPTER_WEIGHTS])
        parts.push(...tarEntry(name, await readFile(join(folder, name))));
      return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]));
    },
    remove: (address) => rm(folderOf(address), { recursive: true, force: true }),
    scratch: (model) => join(modelFolder(model), "scratch"),
  };
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

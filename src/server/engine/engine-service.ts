/** What the routes of `serve engine` share: sessions with their models, samplers, futures and saved weights. */
import { openPolicyEngine, type PolicyEngineOptions } from "../../engine/open-engine.ts";
import { isAdapterFolder } from "../../models/lora/adapter-folder.ts";
import { openSamplers, type SamplerWeights } from "./engine-samplers.ts";
import { type FutureResult, openFutures } from "./futures.ts";
import { ApiError } from "./request-body.ts";
import { type ServedModel, servedModel } from "./served-model.ts";
import { weightsStore } from "./weights-store.ts";

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
      ...(folder === null ? {} : { model: folder }),
      ...(folder !== null && isAdapterFolder(folder) ? { base: base.model } : {}),
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
    /** @param lora null: all weights are trained. */
    async openModel(
      id: string,
      sessionId: string,
      lora: NonNullable<PolicyEngineOptions["lora"]> | null,
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
      const options = { ...base, lora: lora ?? undefined };
      const engine = await openPolicyEngine(options).finally(() => (opening -= 1));
      const model = servedModel({ id, sessionId, rank: lora?.rank ?? 0, engine }, futures);
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

/**
 * The local engine as a server of the Tinker API, both encodings: official SDKs and agentrl's own remote engine train and sample here.
 * Losses are sums, as the API defines them; adapters (LoRA) alone are trained. Sessions that send no heartbeat lose their models;
 * saved weights stay on disk, so that a client continues after a restart.
 */
import { randomUUID } from "node:crypto";
import { fastify, type FastifyInstance, type FastifyReply } from "fastify";
import { AgentrlError, errorMessage } from "../../base/errors.ts";
import type { z } from "../../base/schema.ts";
import type { PolicyEngine } from "../../engine/engine.ts";
import { openPolicyEngine, type PolicyEngineOptions } from "../../engine/open-engine.ts";
import { jsonReply, jsonSample } from "../../engine/tinker/json-messages.ts";
import { encodeReply, encodeSample, PROTOBUF } from "../../engine/tinker/messages.ts";
import { listen } from "../listen.ts";
import { checkExposure, tokenCheck } from "../server-options.ts";
import { ApiError } from "./api-error.ts";
import * as requests from "./engine-requests.ts";
import { openSamplers, type SamplerWeights } from "./engine-samplers.ts";
import { openFutures } from "./futures.ts";
import { decoded, jsonCallOf, parsed } from "./request-body.ts";
import {
  adamOf,
  forwardBackward,
  loadInto,
  type ServedModel,
  servedModel,
} from "./served-model.ts";
import { weightsStore } from "./weights-store.ts";

export interface EngineServerOptions {
  /** Address; other than loopback needs a token. */
  host: string;
  /** 0 selects any free port. */
  port: number;
  /** Clients send it as X-API-Key, or as a bearer token. */
  token?: string;
  /** Folder of saved weights. */
  data: string;
  /** The name by which clients ask for the model. */
  name: string;
  /** Models that are trained at once, at most. */
  maxModels: number;
  /** Largest body in bytes. */
  bodyLimit: number;
  /** Milliseconds without a heartbeat after which a session's models are closed. */
  sessionMs?: number;
  version: string;
  onError?: (error: unknown) => void;
}

export interface EngineServer {
  readonly url: string;
  close(): Promise<void>;
}

/** What every model of the server shares. */
export type ServedBase = Omit<PolicyEngineOptions, "lora" | "trains" | "base" | "critic">;

const API = "/api/v1";

/** A poll is held so long; the SDK waits 45 s. */
const HOLD_MS = 20_000;

/**
 * @throws {ConfigError} SERVER_UNPROTECTED, SERVER_ADDRESS.
 */
export async function startEngineServer(
  base: ServedBase,
  options: EngineServerOptions,
): Promise<EngineServer> {
  const { host, port, token, bodyLimit, onError = () => undefined } = options;
  checkExposure(host, token);
  const service = openService(base, options);
  const app = fastify({ bodyLimit, routerOptions: { ignoreTrailingSlash: true } });
  const allowed = tokenCheck(token ?? null);
  app.addHook("onRequest", (request, reply, done) => {
    const key = request.headers["x-api-key"];
    const given = typeof key === "string" ? `Bearer ${key}` : request.headers.authorization;
    if (request.routeOptions.url === `${API}/healthz` || allowed(given)) done();
    else void reply.code(401).send({ detail: "Missing or wrong API key" });
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(PROTOBUF, { parseAs: "buffer" }, (_request, body, done) => {
    done(null, body);
  });
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) => {
    done(null, body);
  });
  app.setErrorHandler((error: { statusCode?: number }, _request, reply) => {
    const isClients = error instanceof ApiError || error instanceof AgentrlError;
    const status =
      error instanceof ApiError ? error.status : (error.statusCode ?? (isClients ? 400 : 500));
    if (status >= 500) onError(error);
    return reply.code(status).send({ detail: errorMessage(error) });
  });
  addRoutes(app, service);
  const url = await listen(app, { host, port }, "serve engine");
  return {
    url,
    async close() {
      app.server.closeAllConnections();
      await app.close();
      await service.close();
    },
  };
}

type Service = ReturnType<typeof openService>;

function openService(base: ServedBase, options: EngineServerOptions) {
  const { name, maxModels, data, sessionMs = 300_000, onError = () => undefined } = options;
  const sessions = new Map<string, { seenAt: number; made: Map<string, string> }>();
  const models = new Map<string, ServedModel>();
  const sampling = new Map<string, SamplerWeights>();
  const store = weightsStore(data);
  const futures = openFutures(onError);
  const samplers = openSamplers((folder) =>
    openPolicyEngine({
      ...{ ...base, trains: false },
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
    ...{ options, futures, sessions, models, sampling, store, samplers, name },
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
    async openModel(sessionId: string, lora: z.output<typeof requests.createModel>["lora_config"]) {
      // Clients that ended without saying so keep no place that another needs.
      if (models.size >= maxModels) await sweep(60_000);
      if (models.size >= maxModels)
        throw new ApiError(400, `Maximum number of models (${maxModels}) reached. Unload one.`);
      const id = `model-${randomUUID()}`;
      const { rank, alpha, train_attn, train_mlp } = lora;
      const targets = [
        ...(train_attn ? ["q_proj", "k_proj", "v_proj", "o_proj"] : []),
        ...(train_mlp ? ["gate_proj", "up_proj", "down_proj"] : []),
      ];
      if (targets.length === 0) throw new ApiError(400, "train_attn and train_mlp are both false.");
      const seed = lora.seed ?? Math.floor(Math.random() * 2 ** 31);
      const engine: PolicyEngine = await openPolicyEngine({
        ...base,
        lora: { rank, alpha, rslora: false, targets, seed },
      });
      models.set(id, servedModel({ id, sessionId, rank, engine }, futures));
      return {
        id,
        lora_config: { rank, alpha, seed, train_attn, train_mlp, train_unembed: false },
      };
    },
    closeModel,
    async close() {
      clearInterval(timer);
      for (const model of [...models.values()]) await closeModel(model);
      await samplers.close();
    },
  };
}

function addRoutes(app: FastifyInstance, service: Service): void {
  const { options, name } = service;
  app.get(`${API}/healthz`, () => ({ status: "ok" }));
  app.get(`${API}/get_server_capabilities`, () => ({
    supported_models: [{ model_name: name }],
    agentrl: { version: options.version },
  }));
  post(app, "client/config", null, () => ({ pjwt_auth_enabled: false }));
  post(app, "create_session", requests.createSession, () => {
    const session_id = `session-${randomUUID()}`;
    service.sessions.set(session_id, { seenAt: performance.now(), made: new Map() });
    const none = { info_message: null, warning_message: null, error_message: null };
    return { type: "create_session", session_id, ...none };
  });
  post(app, "session_heartbeat", requests.heartbeat, ({ session_id }) => {
    service.session(session_id);
    return { type: "session_heartbeat" };
  });
  // The SDK reports its own use; nothing is kept.
  post(app, "telemetry", null, () => ({ status: "accepted" }));
  addFutures(app, service);
  addModels(app, service);
  addTraining(app, service);
  addWeights(app, service);
  addSampling(app, service);
}

function addFutures(app: FastifyInstance, { futures }: Service): void {
  app.post(`${API}/retrieve_future`, async (request, reply) => {
    const { request_id } = parsed(requests.future, request);
    const result = await futures.result(request_id, HOLD_MS);
    if (result === null) return { type: "try_again", request_id, queue_state: "active" };
    const wanted = (request.headers.accept ?? "").includes(PROTOBUF);
    if (!wanted || result.protobuf === undefined) return result.json;
    return reply.type(PROTOBUF).send(Buffer.from(result.protobuf()));
  });
}

function addModels(app: FastifyInstance, service: Service): void {
  const { futures, name } = service;
  post(app, "create_model", requests.createModel, (body) => {
    const { session_id, model_seq_id, base_model, lora_config } = body;
    service.requireBase(base_model);
    const { made } = service.session(session_id);
    const key = `model ${model_seq_id}`;
    const known = made.get(key);
    if (known !== undefined) return submitted(known);
    const future = futures.begin(async () => {
      const { id, lora_config: found } = await service.openModel(session_id, lora_config);
      return { json: { model_id: id, base_model, lora_config: found, type: "create_model" } };
    });
    made.set(key, future);
    return submitted(future);
  });
  post(app, "get_info", requests.modelOnly, ({ model_id }) => {
    const { rank } = service.model(model_id);
    const model_data = { base_model: name, lora_config: { rank }, model_name: name };
    const type = "get_info";
    return { type, model_id, model_data, is_lora: true, lora_rank: rank, model_name: name };
  });
  post(app, "unload_model", requests.modelOnly, ({ model_id }) => {
    const model = service.model(model_id);
    return submitted(
      futures.begin(async () => {
        await service.closeModel(model);
        return { json: { model_id, type: "unload_model" } };
      }),
    );
  });
}

function addTraining(app: FastifyInstance, service: Service): void {
  for (const path of ["forward_backward", "forward"]) {
    app.post(`${API}/${path}`, (request) => {
      const body = request.body as Buffer | string;
      const call = typeof body === "string" ? jsonCallOf(request) : decoded(body);
      const seqId = call.seqId === 0 ? null : call.seqId;
      const model = service.model(call.modelId);
      return submitted(
        model.train(seqId, body, async (engine) => {
          const result = await forwardBackward(engine, call);
          return { json: jsonReply(result), protobuf: () => encodeReply(result) };
        }),
      );
    });
  }
  app.post(`${API}/optim_step`, (request) => {
    const { model_id, seq_id, adam_params } = parsed(requests.optimStep, request);
    const model = service.model(model_id);
    return submitted(
      model.train(seq_id ?? null, request.body as string, async (engine) => {
        await model.beginChange();
        const { gradNorm } = await engine.optimStep(adamOf(adam_params));
        return { json: { metrics: { grad_norm: gradNorm }, type: "optim_step" } };
      }),
    );
  });
}

function addWeights(app: FastifyInstance, service: Service): void {
  const { store, sampling, name } = service;
  app.post(`${API}/save_weights`, (request) => {
    const { model_id, path, seq_id, overwrite } = parsed(requests.saveWeights, request);
    const model = service.model(model_id);
    return submitted(
      model.train(seq_id ?? null, request.body as string, async (engine) => {
        const at = { model: model_id, kind: "weights", overwrite: overwrite === true } as const;
        const address = await store.save(engine, { ...at, name: path ?? `step-${seq_id ?? 0}` });
        return { json: { path: address, type: "save_weights" } };
      }),
    );
  });
  app.post(`${API}/load_weights`, (request) => {
    const { model_id, path, optimizer, seq_id } = parsed(requests.loadWeights, request);
    const model = service.model(model_id);
    const folder = store.folder(path);
    return submitted(
      model.train(seq_id ?? null, request.body as string, async (engine) => {
        await model.beginChange();
        await loadInto(engine, folder, { optimizer, scratch: store.scratch(model_id) });
        return { json: { path, type: "load_weights" } };
      }),
    );
  });
  app.post(`${API}/save_weights_for_sampler`, (request) => {
    const body = parsed(requests.saveForSampler, request);
    const { model_id, path, seq_id, sampling_session_seq_id: number } = body;
    const model = service.model(model_id);
    const isNamed = typeof path === "string";
    return submitted(
      model.train(seq_id ?? null, request.body as string, async (engine) => {
        const own = path ?? `session-${number ?? seq_id ?? 0}`;
        const at = { model: model_id, kind: "sampler_weights", name: own } as const;
        const address = await store.save(engine, { ...at, overwrite: body.overwrite ?? !isNamed });
        const weights = { folder: store.folder(address), live: { model, version: model.version } };
        const id = isNamed ? address : `${model.sessionId}:sample:${number ?? own}`;
        sampling.set(id, weights);
        const session = isNamed ? {} : { sampling_session_id: id };
        const type = "save_weights_for_sampler";
        return { json: { path: isNamed ? address : null, ...session, type } };
      }),
    );
  });
  post(app, "weights_info", requests.weightsInfo, async ({ tinker_path }) => ({
    ...{ base_model: name, is_lora: true, lora_rank: await store.rank(tinker_path) },
    ...{ train_unembed: false, train_mlp: true, train_attn: true },
  }));
  app.get<{ Params: { run: string; name: string } }>(
    `${API}/training_runs/:run/checkpoints/:name/archive`,
    async ({ params: { run, name: checkpoint } }, reply) => {
      const bytes = await store.archive(`tinker://${run}/sampler_weights/${checkpoint}`);
      return reply.type("application/gzip").send(bytes);
    },
  );
}

function addSampling(app: FastifyInstance, service: Service): void {
  const { futures, store, sampling, samplers } = service;
  const weightsOf = (path: string): SamplerWeights =>
    sampling.get(path) ?? { folder: store.folder(path), live: null };
  const baseOnly = (asked: string): SamplerWeights => {
    service.requireBase(asked);
    return { folder: null, live: null };
  };
  const sourceOf = (
    path: string | null | undefined,
    base: string | null | undefined,
  ): SamplerWeights => {
    if (typeof path === "string") return weightsOf(path);
    if (typeof base === "string") return baseOnly(base);
    throw new ApiError(400, "One of sampling_session_id, model_path and base_model is needed.");
  };
  post(app, "create_sampling_session", requests.createSampling, (body) => {
    service.session(body.session_id);
    const id = `${body.session_id}:sample:${body.sampling_session_seq_id}`;
    sampling.set(id, sourceOf(body.model_path, body.base_model));
    return { sampling_session_id: id, type: "create_sampling_session" };
  });
  app.get<{ Params: { id: string } }>(`${API}/samplers/:id`, ({ params: { id } }) => {
    if (!sampling.has(id)) throw new ApiError(404, `Sampler not found: ${id}`);
    return { sampler_id: id, base_model: service.name };
  });
  post(app, "asample", requests.sample, (body) => {
    const id = body.sampling_session_id;
    const known = typeof id === "string" ? sampling.get(id) : undefined;
    if (typeof id === "string" && known === undefined)
      throw new ApiError(404, `Sampling session not found: ${id}`);
    const weights = known ?? sourceOf(body.model_path, body.base_model);
    const future = futures.begin(async () => {
      const result = await samplers.sample(weights, body);
      return { json: jsonSample(result), protobuf: () => encodeSample(result) };
    });
    // SDKs from 0.38 name each sequence.
    const ids = Array.from({ length: body.num_samples }, () => randomUUID());
    return { ...submitted(future), sample_sequence_ids: ids };
  });
}

/** A route whose body is JSON of a schema; null: the body does not matter. */
function post<S extends z.ZodType>(
  app: FastifyInstance,
  path: string,
  schema: S | null,
  answer: (body: z.output<S>, reply: FastifyReply) => object | Promise<object>,
): void {
  app.post(`${API}/${path}`, (request, reply) =>
    answer(schema === null ? (undefined as z.output<S>) : parsed(schema, request), reply),
  );
}

function submitted(id: string): object {
  return { request_id: id, future_id: id, status: "pending" };
}

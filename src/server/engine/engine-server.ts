/**
 * The local engine as a server of the Tinker API, both encodings: official SDKs and agentrl's own remote engine train and sample here.
 * Losses are sums, as the API defines them; adapters (LoRA) are trained, or with rank 0 all weights. Sessions that send no heartbeat lose their models;
 * saved weights stay on disk, so that a client continues after a restart.
 */
import { randomUUID } from "node:crypto";
import type { FastifyInstance, FastifyReply } from "fastify";
import { AgentrlError, errorMessage } from "../../base/errors.ts";
import type { z } from "../../base/schema.ts";
import { jsonReply, jsonSample } from "../../engine/tinker/json-messages.ts";
import { ATTENTION, MLP } from "../../engine/tinker/limits.ts";
import { encodeReply, encodeSample, PROTOBUF } from "../../engine/tinker/messages.ts";
import type { LoraConfig } from "../../models/lora/lora.ts";
import { listen, serverApp } from "../server-app.ts";
import { ApiError, decoded, jsonCallOf, parsed } from "./request-body.ts";
import * as requests from "./engine-requests.ts";
import type { SamplerWeights } from "./engine-samplers.ts";
import {
  type EngineService,
  openService,
  type ServedBase,
  type ServiceOptions,
} from "./engine-service.ts";
import { adamOf, forwardBackward, loadInto } from "./served-model.ts";

export interface EngineServerOptions extends ServiceOptions {
  /** Address; other than loopback needs a token. */
  host: string;
  /** 0 selects any free port. */
  port: number;
  /** Clients send it as X-API-Key, or as a bearer token. */
  token?: string;
  /** Largest body in bytes. */
  bodyLimit: number;
}

export interface EngineServer {
  readonly url: string;
  close(): Promise<void>;
}

const API = "/api/v1";

/** A poll is held so long; the SDK waits 45 s. */
const HOLD_MS = 20_000;

/** A large batch from far away takes minutes. */
const ARRIVAL_MS = 300_000;

/** @throws {ConfigError} SERVER_UNPROTECTED, SERVER_ADDRESS. */
export async function startEngineServer(
  base: ServedBase,
  options: EngineServerOptions,
): Promise<EngineServer> {
  const { host, port, onError = () => undefined } = options;
  const { app } = serverApp({
    ...options,
    arrivalMs: ARRIVAL_MS,
    health: `${API}/healthz`,
    tokenHeader: "x-api-key",
    noToken: "Missing or wrong API key",
    refuse: (reply, status, detail) => reply.code(status).send({ detail }),
  });
  const service = openService(base, options);
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

function addRoutes(app: FastifyInstance, service: EngineService): void {
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

function addFutures(app: FastifyInstance, { futures }: EngineService): void {
  app.post(`${API}/retrieve_future`, async (request, reply) => {
    const { request_id } = parsed(requests.future, request);
    const result = await futures.result(request_id, HOLD_MS);
    if (result === null) return { type: "try_again", request_id, queue_state: "active" };
    const wanted = (request.headers.accept ?? "").includes(PROTOBUF);
    if (!wanted || result.protobuf === undefined) return result.json;
    return reply.type(PROTOBUF).send(Buffer.from(result.protobuf()));
  });
}

function addModels(app: FastifyInstance, service: EngineService): void {
  const { futures, name } = service;
  post(app, "create_model", requests.createModel, (body) => {
    const { session_id, model_seq_id, base_model, lora_config } = body;
    service.requireBase(base_model);
    const { rank, alpha, train_attn, train_mlp } = lora_config;
    const targets = [...(train_attn ? ATTENTION : []), ...(train_mlp ? MLP : [])];
    if (targets.length === 0) throw new ApiError(400, "train_attn and train_mlp are both false.");
    const seed = lora_config.seed ?? Math.floor(Math.random() * 2 ** 31);
    const isWhole = rank === 0;
    const lora = isWhole ? null : { rank, alpha, targets, rslora: false, seed };
    const adapters = { rank, alpha, seed, train_attn, train_mlp, train_unembed: false };
    const found = isWhole ? { rank } : adapters;
    return submitted(
      service.makeOnce(session_id, model_seq_id, async (id) => {
        await service.openModel(id, session_id, lora);
        return { json: { model_id: id, base_model, lora_config: found, type: "create_model" } };
      }),
    );
  });
  post(app, "get_info", requests.modelOnly, ({ model_id }) => {
    const { rank } = service.model(model_id);
    const model_data = { base_model: name, lora_config: { rank }, model_name: name };
    const type = "get_info";
    return { type, model_id, model_data, is_lora: rank > 0, lora_rank: rank, model_name: name };
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

function addTraining(app: FastifyInstance, service: EngineService): void {
  for (const path of ["forward_backward", "forward"])
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

function addWeights(app: FastifyInstance, service: EngineService): void {
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
    const body = parsed(requests.loadWeights, request);
    const { path, optimizer, seq_id } = body;
    const folder = store.folder(path);
    const scratch = (id: string) => ({ optimizer, scratch: store.scratch(id) });
    if ("session_id" in body) {
      // SDKs from 0.38 make a model from saved weights in one call.
      if (typeof body.base_model === "string") service.requireBase(body.base_model);
      return submitted(
        service.makeOnce(body.session_id, body.model_seq_id, async (id) => {
          const lora = await store.lora(path);
          const fresh = lora === null ? null : { ...lora, seed: 0 };
          const { engine } = await service.openModel(id, body.session_id, fresh);
          await loadInto(engine, folder, scratch(id));
          return { json: { path, model_id: id, type: "load_weights" } };
        }),
      );
    }
    const { model_id } = body;
    const model = service.model(model_id);
    return submitted(
      model.train(seq_id ?? null, request.body as string, async (engine) => {
        await model.beginChange();
        await loadInto(engine, folder, scratch(model_id));
        return { json: { path, model_id, type: "load_weights" } };
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
    base_model: name,
    ...loraFacts(await store.lora(tinker_path)),
  }));
  app.get<{ Params: { run: string; name: string } }>(
    `${API}/training_runs/:run/checkpoints/:name/archive`,
    async ({ params: { run, name: checkpoint } }, reply) => {
      const bytes = await store.archive(`tinker://${run}/sampler_weights/${checkpoint}`);
      return reply.type("application/gzip").send(bytes);
    },
  );
}

function addSampling(app: FastifyInstance, service: EngineService): void {
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

function loraFacts(lora: LoraConfig | null): object {
  if (lora === null) return { is_lora: false, lora_rank: 0 };
  const { rank, targets } = lora;
  const has = (names: readonly string[]): boolean => names.some((each) => targets.includes(each));
  const layers = { train_unembed: false, train_mlp: has(MLP), train_attn: has(ATTENTION) };
  return { is_lora: true, lora_rank: rank, ...layers };
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

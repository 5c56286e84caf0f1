/** Sampling at a server that loads adapters (vLLM), beside a training server that does not sample; each version has its own adapter name. */
import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ConfigError, ExternalError } from "../../base/errors.ts";
import { formatMean } from "../../base/format.ts";
import { z } from "../../base/schema.ts";
import { suggest } from "../../base/nearest.ts";
import { readApiKey } from "../../http/api-key.ts";
import { finishReason } from "../../http/chat-wire.ts";
import { httpClient } from "../../http/client.ts";
import type { Endpoint } from "../../http/endpoint.ts";
import { quotedBody, withoutKeys } from "../../http/http-error.ts";
import { type HttpSettings, httpShape } from "../../http/http-options.ts";
import type { SampleRequest, TrainingRow } from "../engine.ts";
import { engineSetting } from "./connection.ts";
import type { SampledSequence } from "./messages.ts";
import type { SamplerServer } from "./options.ts";
import { ARCHIVE, unpackAdapter } from "./remote-files.ts";
import {
  type Draw,
  type RemoteSampling,
  type SamplingLimits,
  cutAtStop,
  roomOf,
} from "./remote-sampling.ts";

/** Adapters that stay loaded: the newest, and the one that rollouts under way may still ask for. */
const KEPT = 2;

/** Connects to the sampling server. @throws as `samplingServer`. */
export async function adapterSampling(
  sampler: SamplerServer,
  limits: SamplingLimits,
  http: { stallMs: number | null; http?: Partial<HttpSettings> },
): Promise<RemoteSampling> {
  const server = await samplingServer(sampler, http);
  const run = `agentrl-${randomUUID().slice(0, 8)}`;
  let count = 0;
  let loaded: { name: string; folder: string }[] = [];
  const keep = async (most: number): Promise<void> => {
    const old = loaded.slice(0, Math.max(0, loaded.length - most));
    loaded = loaded.slice(old.length);
    for (const { name, folder } of old) {
      await server.unload(name);
      await rm(folder, { recursive: true, force: true });
    }
  };
  return {
    async weightsOf(model, version) {
      // A run that goes back to a checkpoint trains a version again, with other weights: the version alone is no name.
      const name = `${run}-v${version}-${count++}`;
      const folder = join(resolve(sampler.adapters), name);
      const draft = `${folder}.part`;
      await mkdir(draft, { recursive: true });
      const exported = await model.archive(join(draft, ARCHIVE));
      if (exported === null) {
        await rm(draft, { recursive: true });
        const message = `engine.sampler: the training server exports no adapter of version ${version}, so ${server.where} cannot sample from it. Remove engine.sampler, or use a training server that exports, such as agentrl serve engine or TuFT.`;
        throw new ConfigError("ENGINE_UNFIT", message);
      }
      await unpackAdapter(draft, exported);
      await rename(draft, folder);
      loaded.push({ name, folder });
      await server.load(name, folder);
      await keep(KEPT);
      return async (request) => {
        const maxTokens = roomOf(request, limits);
        const sequence = await server.complete(name, { ...request, maxTokens });
        return cutAtStop(sequence, request, limits.tokenizer);
      };
    },
    close: () => keep(0),
  };
}

/** Tokens of the comparison, and the largest difference of log-probabilities that it allows: 16-bit servers differ by about 0.02. */
const COMPARED_TOKENS = 32;
const LARGEST_NATS = 0.25;

/** Draws some tokens at the sampling server and scores them at the training server (`forward`). @throws ENGINE_UNFIT when models differ. */
export async function requireSameModel(
  draw: Draw,
  forward: (rows: readonly TrainingRow[]) => Promise<Float32Array[]>,
  { vocabSize, url }: { vocabSize: number; url: string },
): Promise<void> {
  const promptIds = [1, 2, 3, 4].map((id) => id % vocabSize);
  const { ids, logprobs } = await draw({
    promptIds,
    maxTokens: COMPARED_TOKENS,
    stopIds: [],
    stopStrings: [],
    seed: 1,
    temperature: 1,
    topP: 1,
    topK: 0,
    sequence: null,
  });
  const all = [...promptIds, ...ids];
  const targets = all.slice(1);
  const row = { inputs: all.slice(0, -1), targets, fields: { weights: targets.map(() => 1) } };
  const [scored = new Float32Array()] = await forward([row]);
  const own = scored.slice(promptIds.length - 1);
  const nats = logprobs.reduce((sum, each, i) => sum + Math.abs(each - (own[i] ?? NaN)), 0);
  const difference = nats / logprobs.length;
  if (difference <= LARGEST_NATS) return;
  const message = `engine.sampler: ${new URL(url).origin} and the training server hold different models: log-probabilities of ${ids.length} drawn tokens differ by ${formatMean(difference)} nats per token (at most ${LARGEST_NATS} is allowed). Serve the base of the policy at both.`;
  throw new ConfigError("ENGINE_UNFIT", message);
}

interface SamplingServer {
  readonly where: string;
  /** @throws {ConfigError} ENGINE_UNFIT with what the server says. */
  load(name: string, folder: string): Promise<void>;
  /** A server that lost the adapter has nothing to unload. */
  unload(name: string): Promise<void>;
  /** @throws {ExternalError} HTTP_BAD_REPLY for a reply of another model or prompt, or a token without id or log-probability. */
  complete(adapter: string, request: SampleRequest): Promise<SampledSequence>;
}

const modelsSchema = z.object({
  data: z.array(z.object({ id: z.string(), parent: z.string().nullish() })),
});

const replySchema = z.object({
  model: z.string(),
  choices: z.tuple([
    z.object({
      finish_reason: finishReason,
      logprobs: z.object({ token_logprobs: z.array(z.number()) }).nullish(),
      token_ids: z.array(z.int()).nullish(),
      prompt_token_ids: z.array(z.int()).nullish(),
    }),
  ]),
});

/** Replies that are read, not thrown. */
const REFUSALS = [400, 404, 405, 409, 422, 500];

/** @throws {ConfigError} ENGINE_UNFIT when it has no such base; HTTP_KEY_MISSING. @throws {ExternalError} as `HttpClient.json`. */
export async function samplingServer(
  sampler: SamplerServer,
  limits: { stallMs: number | null; http?: Partial<HttpSettings> },
): Promise<SamplingServer> {
  const endpoint = endpointOf(sampler, limits);
  const client = httpClient(endpoint);
  const where = new URL(sampler.url).origin;
  const { value } = await client.json({ path: "/models" }, modelsSchema);
  const base = baseOf(value.data, sampler.model, where);
  const quoted = (text: string): string => quotedBody(withoutKeys(endpoint, text));
  return {
    where,
    async load(name, folder) {
      const body = { lora_name: name, lora_path: folder };
      const asked = { path: "/load_lora_adapter", body, idempotent: true, accepts: REFUSALS };
      const { status, text } = await client.request(asked);
      // The reply to an earlier attempt was lost: names are used once.
      if (status < 300 || /already been loaded/.test(text)) return;
      const isAbsent = status === 404 && /"not found"/i.test(text);
      const remedy = isAbsent
        ? "It loads no adapters: start vLLM with --enable-lora and VLLM_ALLOW_RUNTIME_LORA_UPDATING=True."
        : `It must read ${folder} at this path, serve the base of the policy (it serves ${base}), and allow the adapter's rank (vLLM: --max-lora-rank).`;
      const message = `engine.sampler: ${where}, load_lora_adapter: status ${status}, saying ${quoted(text)}. ${remedy}`;
      throw new ConfigError("ENGINE_UNFIT", message);
    },
    async unload(name) {
      const body = { lora_name: name };
      const asked = { path: "/unload_lora_adapter", body, idempotent: true, accepts: REFUSALS };
      await client.request(asked).catch(() => undefined);
    },
    async complete(adapter, request) {
      const asked = { path: "/completions", body: completionBody(adapter, request), idempotent: true }; // prettier-ignore
      const { value: reply } = await client.json(asked, replySchema);
      const [{ finish_reason: finish, token_ids: tokens, prompt_token_ids: prompt, logprobs }] =
        reply.choices;
      const problem = problemOf();
      if (problem === null)
        return {
          tokens: tokens ?? [],
          logprobs: logprobs?.token_logprobs ?? [],
          stopReason: finish === "length" ? "length" : "stop",
        };
      const message = `engine.sampler: ${where}, completions: ${problem} Nothing was learned from this reply.`;
      throw new ExternalError("HTTP_BAD_REPLY", message);

      function problemOf(): string | null {
        if (reply.model !== adapter)
          return `asked for ${adapter}, the reply is of ${quoted(reply.model)}. The server no longer has the adapter (did it restart?); continue with --resume.`;
        if (tokens == null || prompt == null)
          return "the reply has no token ids, although return_token_ids was asked for. Use a server that sends them, such as vLLM or agentrl serve policy.";
        if (prompt.join() !== request.promptIds.join())
          return `the prompt of the reply has other tokens than the one asked (${prompt.length} and ${request.promptIds.length}). The server changes prompts: serve the policy's own tokenizer, without a template.`;
        if (logprobs?.token_logprobs.length === tokens.length) return null;
        return `the reply has ${tokens.length} tokens and ${logprobs?.token_logprobs.length ?? "no"} log-probabilities. Training needs one for each token; check that the server sends logprobs.`;
      }
    },
  };
}

/** Everything that a server's own defaults (`generation_config.json`) could change is sent. */
function completionBody(model: string, request: SampleRequest): object {
  const { promptIds, maxTokens, temperature, topP, topK, minP = 0, seed } = request;
  const { stopIds, stopStrings } = request;
  return {
    model,
    prompt: promptIds,
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    top_k: topK === 0 ? -1 : topK,
    min_p: minP,
    seed: seed % 2 ** 31,
    presence_penalty: 0,
    frequency_penalty: 0,
    repetition_penalty: 1,
    stop: stopStrings.length === 0 ? undefined : stopStrings,
    stop_token_ids: stopIds,
    include_stop_str_in_output: true,
    n: 1,
    logprobs: 0,
    return_token_ids: true,
  };
}

function endpointOf(
  { url, apiKeyEnv }: SamplerServer,
  { stallMs, http = {} }: Parameters<typeof samplingServer>[1],
): Endpoint {
  const key = apiKeyEnv === null ? null : readApiKey(apiKeyEnv, "engine.sampler.apiKeyEnv");
  const limitMs = stallMs ?? 3_600_000;
  const limits = { timeoutMs: Math.min(limitMs, 3_600_000), deadlineMs: limitMs };
  const settings = z.object(httpShape).parse({ ...limits, concurrency: 1024, ...http });
  return {
    name: "engine.sampler",
    url: `${url.replace(/(\/v1)?\/*$/, "")}/v1`,
    settings,
    nameOf: (key) => (key === "apiKeyEnv" ? "engine.sampler.apiKeyEnv" : engineSetting(key)),
    keys: key === null || apiKeyEnv === null ? undefined : { [apiKeyEnv]: key },
    headers: key === null || apiKeyEnv === null ? undefined : { authorization: `Bearer ${key}` },
  };
}

function baseOf(
  models: z.output<typeof modelsSchema>["data"],
  name: string | null,
  where: string,
): string {
  const names = models.flatMap(({ id, parent }) => (parent == null ? [id] : []));
  const found = name === null ? names : names.filter((each) => each === name);
  if (found.length === 1 && found[0] !== undefined) return found[0];
  const hint =
    name === null ? `Set engine.sampler.model to one of: ${names.join(", ")}.` : suggest(name, names); // prettier-ignore
  const message = `engine.sampler.model is ${name === null ? "not set" : JSON.stringify(name)}: ${where} has ${names.length} base models. ${hint}`;
  throw new ConfigError("ENGINE_UNFIT", message);
}

/**
 * Sampling at an OpenAI-compatible server that loads adapters while it runs (vLLM), beside a training server that does not sample.
 * Each version of the policy that is sampled from is exported by the training server and becomes an adapter with a name of its own, so
 * no reply of another version is taken for it.
 */
import { formatMean } from "../../base/format.ts";
import { randomUUID } from "node:crypto";
import { mkdir, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import type { HttpSettings } from "../../http/http-options.ts";
import type { TrainingRow } from "../engine.ts";
import type { SamplerServer } from "./options.ts";
import { unpackAdapter } from "./remote-files.ts";
import { cutAtStop, type Draw, type RemoteSampling, roomOf, type SamplingLimits } from "./remote-sampling.ts"; // prettier-ignore
import { samplingServer } from "./sampling-server.ts";

/** Adapters that stay loaded: the newest, and the one that rollouts under way may still ask for. */
const KEPT = 2;

/**
 * Connects to the sampling server.
 * @throws as `samplingServer`.
 */
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
      const archive = await model.archive();
      if (archive === null) {
        throw new ConfigError(
          "ENGINE_UNFIT",
          `engine.sampler: the training server exports no adapter of version ${version}, so ${server.where} cannot sample from it. Remove engine.sampler, or use a training server that exports, such as agentrl serve engine or TuFT.`,
        );
      }
      // A run that goes back to a checkpoint trains a version again, with other weights: the version alone is no name.
      const name = `${run}-v${version}-${count++}`;
      const folder = join(resolve(sampler.adapters), name);
      const draft = `${folder}.part`;
      await mkdir(draft, { recursive: true });
      await unpackAdapter(draft, archive);
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

/**
 * Draws some tokens at the sampling server and scores them at the training server, before anything is trained.
 * @param forward log-probabilities at the training server.
 * @throws {ConfigError} ENGINE_UNFIT when the servers hold different models.
 */
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
  throw new ConfigError(
    "ENGINE_UNFIT",
    `engine.sampler: ${new URL(url).origin} and the training server hold different models: log-probabilities of ${ids.length} drawn tokens differ by ${formatMean(difference)} nats per token (at most ${LARGEST_NATS} is allowed). Serve the base of the policy at both.`,
  );
}

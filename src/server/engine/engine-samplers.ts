import type { PolicyEngine, SampleRequest, SampleResult } from "../../engine/engine.ts";
import type { SampleReply } from "../../engine/tinker/messages.ts";
import { ApiError } from "./request-body.ts";
import type { SampleBody } from "./engine-requests.ts";
import type { ServedModel } from "./served-model.ts";

/** Weights to sample from: saved adapters, of a model at some version, or the base. */
export interface SamplerWeights {
  /** null: the base alone. */
  folder: string | null;
  /** Whose present weights they were. */
  live: { model: ServedModel; version: number } | null;
}

export interface Samplers {
  sample(weights: SamplerWeights, body: SampleBody): Promise<SampleReply>;
  close(): Promise<void>;
}

/** Engines for weights that no model has any more, besides the models' own. */
const SPARE_ENGINES = 2;

/** @param open an engine that only samples. */
export function openSamplers(open: (folder: string | null) => Promise<PolicyEngine>): Samplers {
  const spare = new Map<string, { engine: Promise<PolicyEngine>; users: number }>();
  const withSpare = async <T>(
    folder: string | null,
    use: (engine: PolicyEngine) => Promise<T>,
  ): Promise<T> => {
    const key = folder ?? "";
    const known = spare.get(key) ?? { engine: open(folder), users: 0 };
    // The most recently used is last.
    spare.delete(key);
    spare.set(key, known);
    known.users += 1;
    try {
      return await use(await known.engine);
    } catch (error) {
      if (known.users === 1) await known.engine.catch(() => spare.delete(key));
      throw error;
    } finally {
      known.users -= 1;
      for (const [name, { engine, users }] of spare) {
        if (spare.size <= SPARE_ENGINES) break;
        if (users > 0) continue;
        spare.delete(name);
        await (await engine).close();
      }
    }
  };
  return {
    async sample({ folder, live }, body) {
      const draw = (request: SampleRequest): Promise<SampleResult> =>
        live?.model.sample(live.version, request) ??
        withSpare(folder, (engine) => engine.sample(request));
      const { engine } = live?.model ?? { engine: null };
      if (engine !== null) return drawAll(body, engine, draw);
      return withSpare(folder, (own) => drawAll(body, own, draw));
    },
    async close() {
      for (const { engine } of spare.values()) await (await engine).close();
    },
  };
}

async function drawAll(
  body: SampleBody,
  engine: PolicyEngine,
  draw: (request: SampleRequest) => Promise<SampleResult>,
): Promise<SampleReply> {
  const { num_samples: count, sampling_params: params } = body;
  const promptIds = body.prompt.chunks.flatMap(({ tokens }) => tokens);
  const { maxPositions, vocabSize } = engine.capabilities;
  if (promptIds.length === 0 || promptIds.length >= maxPositions)
    throw new ApiError(
      400,
      `prompt: ${promptIds.length} tokens, where 1 to ${maxPositions - 1} are allowed.`,
    );
  const stray = promptIds.find((id) => !(id >= 0 && id < vocabSize));
  if (stray !== undefined)
    throw new ApiError(400, `prompt: token ${stray} of a vocabulary of ${vocabSize}.`);
  const stops = [params.stop ?? []].flat();
  const room = maxPositions - promptIds.length;
  const seed = params.seed ?? Math.floor(Math.random() * 2 ** 31);
  const request = {
    promptIds,
    maxTokens: Math.min(params.max_tokens ?? room, room),
    // A model's own end always ends it, as in vLLM.
    stopIds: [...engine.tokenizer.endIds, ...stops.filter((stop) => typeof stop === "number")],
    stopStrings: stops.filter((stop) => typeof stop === "string"),
    temperature: params.temperature,
    topP: params.top_p,
    topK: Math.max(0, params.top_k),
    minP: params.min_p,
    sequence: null,
  };
  const drawn = await Promise.all(
    Array.from({ length: count }, (_, i) => draw({ ...request, seed: seed + i })),
  );
  return {
    sequences: drawn.map(({ ids, logprobs, finish }) => ({
      tokens: ids,
      logprobs,
      stopReason: finish === "length" ? "length" : "stop",
    })),
    promptLogprobs: body.prompt_logprobs === true ? await promptLogprobs(engine, promptIds) : null,
  };
}

/** The first token has none. */
async function promptLogprobs(engine: PolicyEngine, ids: readonly number[]): Promise<number[]> {
  if (ids.length < 2) return [NaN];
  const targets = ids.slice(1);
  const row = { inputs: ids.slice(0, -1), targets, fields: { weights: targets.map(() => 1) } };
  const [scored] = await engine.logprobs([row]);
  return [NaN, ...(scored ?? [])];
}

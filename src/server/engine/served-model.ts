import { createHash } from "node:crypto";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { AdamOptions } from "../../autodiff/adamw.ts";
import { definedValues } from "../../base/defined-values.ts";
import {
  type PolicyEngine,
  type SampleRequest,
  type SampleResult,
  TEMPERATURES,
  type TrainingRow,
  VALUE_WEIGHTS,
} from "../../engine/engine.ts";
import type {
  ForwardBackwardCall,
  ForwardBackwardReply,
  WireRow,
} from "../../engine/tinker/messages.ts";
import type { LossSpec } from "../../losses/loss.ts";
import type { FutureResult, Futures } from "./futures.ts";
import { ApiError } from "./request-body.ts";
import { filesOfWeights } from "./weights-store.ts";

/** Adapters that a client trains, or a whole model. */
export interface ServedModel {
  readonly id: string;
  readonly sessionId: string;
  /** 0: all weights are trained. */
  readonly rank: number;
  readonly engine: PolicyEngine;
  /** Changes with the weights. */
  readonly version: number;
  /**
   * Runs training calls one after the other. The same number with the same body is the same future, so that a client may repeat a
   * request whose reply it lost.
   * @throws {ApiError} 409 when the number was used for another call.
   */
  train(
    seqId: number | null,
    body: string | Uint8Array,
    work: (engine: PolicyEngine) => Promise<FutureResult>,
  ): string;
  /** Draws from the present weights; null when they are not those of a version any more. */
  sample(version: number, request: SampleRequest): Promise<SampleResult> | null;
  close(): Promise<void>;
  /** To be called before the weights change: waits for draws in progress. */
  beginChange(): Promise<void>;
}

/** Calls that a client may repeat. */
const REMEMBERED = 64;

export function servedModel(
  { id, sessionId, rank, engine }: Pick<ServedModel, "id" | "sessionId" | "rank" | "engine">,
  futures: Futures,
): ServedModel {
  const calls = new Map<number, { hash: string; future: string }>();
  const draws = new Set<Promise<unknown>>();
  let last: Promise<unknown> = Promise.resolve();
  let version = 0;
  return {
    id,
    sessionId,
    rank,
    engine,
    get version() {
      return version;
    },
    train(seqId, body, work) {
      const hash = createHash("sha256").update(body).digest("hex");
      const known = seqId === null ? undefined : calls.get(seqId);
      if (known?.hash === hash) return known.future;
      if (known !== undefined)
        throw new ApiError(409, `Training request sequence number was reused: ${seqId}`);
      const future = futures.begin(() => {
        const result = last.then(() => work(engine));
        last = result.catch(() => undefined);
        return result;
      }, body.length);
      if (seqId !== null) calls.set(seqId, { hash, future });
      for (const oldest of calls.keys()) if (calls.size > REMEMBERED) calls.delete(oldest);
      return future;
    },
    sample(of, request) {
      if (of !== version) return null;
      const draw = engine.sample(request);
      draws.add(draw);
      draw.catch(() => undefined).finally(() => draws.delete(draw));
      return draw;
    },
    async beginChange() {
      version += 1;
      await Promise.allSettled(draws);
    },
    async close() {
      await last;
      await engine.close();
    },
  };
}

/** One pass of a loss, or of log-probabilities alone. @throws {ApiError} 400 */
export async function forwardBackward(
  engine: PolicyEngine,
  call: ForwardBackwardCall,
): Promise<ForwardBackwardReply> {
  const loss = servedLoss(call);
  const rows = servedRows(call, engine.capabilities);
  // An empty batch has an empty result.
  if (rows.length === 0) return { outputs: [], metrics: { "loss:sum": 0 } };
  if (!call.forwardOnly) {
    const { logprobs, loss: sum } = await engine.forwardBackward(rows, loss);
    return replyOf(logprobs, sum);
  }
  const logprobs = await engine.logprobs(rows);
  const isLikelihood = call.lossFn === "cross_entropy";
  const sum = rows.reduce(
    (total, { fields: { weights } }, r) =>
      total - weights.reduce((all, weight, i) => all + weight * (logprobs[r]?.[i] ?? NaN), 0),
    0,
  );
  return replyOf(logprobs, isLikelihood ? sum : 0);
}

function replyOf(logprobs: readonly Float32Array[], sum: number): ForwardBackwardReply {
  return {
    outputs: logprobs.map((row) => ({ logprobs: Array.from(row) })),
    metrics: { "loss:sum": sum },
  };
}

/** `adam_params` of the API; no clipping where `grad_clip_norm` is 0. */
export function adamOf(given: {
  learning_rate: number;
  beta1: number;
  beta2: number;
  eps: number;
  weight_decay: number;
  grad_clip_norm: number;
}): AdamOptions {
  return {
    learningRate: given.learning_rate,
    beta1: given.beta1,
    beta2: given.beta2,
    epsilon: given.eps,
    weightDecay: given.weight_decay,
    gradClipNorm: given.grad_clip_norm > 0 ? given.grad_clip_norm : Infinity,
  };
}

/** Loads weights, with the optimizer's state or without. */
export async function loadInto(
  engine: PolicyEngine,
  folder: string,
  { optimizer, scratch }: { optimizer: boolean; scratch: string },
): Promise<void> {
  if (optimizer) return engine.load(folder);
  await rm(scratch, { recursive: true, force: true });
  await mkdir(scratch, { recursive: true });
  for (const name of await filesOfWeights(folder))
    await copyFile(join(folder, name), join(scratch, name));
  await engine.load(scratch);
  await rm(scratch, { recursive: true, force: true });
}

type ServedLoss = (config: Readonly<Record<string, number>>) => LossSpec;

/** Bounds of the ratio as the API names them; defaults as the SDK documents them. */
const bounds = (
  config: Readonly<Record<string, number>>,
): { clipLow: number; clipHigh: number } => ({
  clipLow: 1 - (config["clip_low_threshold"] ?? 0.8),
  clipHigh: (config["clip_high_threshold"] ?? 1.2) - 1,
});

/** Above e^20, to which the exponent is limited: no bound. */
const NO_BOUND = 1e9;

const servedLosses: Readonly<Record<string, ServedLoss>> = {
  cross_entropy: () => ({ name: "cross-entropy", options: {} }),
  importance_sampling: () => ({
    name: "policy-gradient",
    options: { clipLow: 1, clipHigh: NO_BOUND },
  }),
  ppo: (config) => ({ name: "policy-gradient", options: bounds(config) }),
  cispo: (config) => ({ name: "cispo", options: bounds(config) }),
};

/** A loss of the API as one of ours. All are sums of weight · token loss. @throws {ApiError} 400 */
function servedLoss({ lossFn, config }: ForwardBackwardCall): LossSpec {
  const found = Object.hasOwn(servedLosses, lossFn) ? servedLosses[lossFn] : undefined;
  if (found !== undefined) return found(config);
  throw new ApiError(
    400,
    `Loss function ${lossFn} is not supported: ${Object.keys(servedLosses).join(", ")}.`,
  );
}

/**
 * Rows of the API as rows of an engine. Every target is scored, also those with weight 0: the reply has log-probabilities of all.
 * @throws {ApiError} 400 for arrays that are missing, of another length or not finite, unknown tokens and sequences that are too long.
 */
function servedRows(
  { rows, lossFn }: ForwardBackwardCall,
  limits: { maxPositions: number; vocabSize: number },
): TrainingRow[] {
  return rows.map((row, index) => {
    const { tokens, fields } = row;
    const bad = (what: string): ApiError => new ApiError(400, `data[${index}]: ${what}.`);
    if (tokens.length === 0 || tokens.length > limits.maxPositions)
      throw bad(`${tokens.length} tokens, where 1 to ${limits.maxPositions} are allowed`);
    const needed = [
      "target_tokens",
      ...(lossFn === "cross_entropy" ? [] : ["logprobs", "advantages"]),
    ];
    for (const name of new Set([...needed, ...Object.keys(fields)])) {
      const length = fields[name]?.length ?? 0;
      if (length !== tokens.length)
        throw bad(`${name} has ${length} values for ${tokens.length} tokens`);
      if (fields[name]?.some((value) => !Number.isFinite(value)))
        throw bad(`${name} is not finite`);
    }
    if (fields[TEMPERATURES]?.some((value) => value <= 0))
      throw bad(`${TEMPERATURES} has a value that is not above 0`);
    const targets = fields["target_tokens"] ?? [];
    const stray = [...tokens, ...targets].find((id) => !(id >= 0 && id < limits.vocabSize));
    if (stray !== undefined) throw bad(`token ${stray} of a vocabulary of ${limits.vocabSize}`);
    return { inputs: tokens, targets, fields: engineFields(row) };
  });
}

function engineFields({ tokens, fields }: WireRow): TrainingRow["fields"] {
  const ones = tokens.map(() => 1);
  return {
    weights: fields["weights"] ?? ones,
    ...definedValues({
      [VALUE_WEIGHTS]: ones,
      oldLogprobs: fields["logprobs"],
      advantages: fields["advantages"],
      [TEMPERATURES]: fields[TEMPERATURES],
    }),
  };
}

import { createHash } from "node:crypto";
import { copyFile, mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import type { AdamOptions } from "../../autodiff/adamw.ts";
import type { PolicyEngine, SampleRequest, SampleResult } from "../../engine/engine.ts";
import {
  type ForwardBackwardCall,
  type ForwardBackwardReply,
} from "../../engine/tinker/messages.ts";
import { ADAPTER_CONFIG, ADAPTER_WEIGHTS } from "../../models/lora/adapter-folder.ts";
import { ApiError } from "./api-error.ts";
import type { FutureResult, Futures } from "./futures.ts";
import { servedLoss, servedRows } from "./served-losses.ts";

/** Adapters that a client trains. */
export interface ServedModel {
  readonly id: string;
  readonly sessionId: string;
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
  for (const name of [ADAPTER_CONFIG, ADAPTER_WEIGHTS])
    await copyFile(join(folder, name), join(scratch, name));
  await engine.load(scratch);
  await rm(scratch, { recursive: true, force: true });
}

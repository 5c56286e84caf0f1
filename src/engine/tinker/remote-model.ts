import { randomUUID } from "node:crypto";
import type { AdamOptions } from "../../autodiff/adamw.ts";
import type { AgentrlError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import type { TrainingRow } from "../engine.ts";
import type { Connection, WireAnswer } from "./connection.ts";
import type { Dialect } from "./dialect.ts";
import { checkedOutputs, chunksOf, readReply } from "./forward-replies.ts";
import { jsonCall } from "./json-messages.ts";
import { encodeCall, type ForwardBackwardCall } from "./messages.ts";
import { type NativeLoss, wireRow } from "./native-loss.ts";

/** A session at a server, in which models are made. */
export interface RemoteSession {
  connection: Connection;
  dialect: Dialect;
  sessionId: string;
  baseModel: string;
  /** Numbers of the session's models and sampling sessions, from 0. */
  next: { model: number; sampler: number };
}

/** A model at a server: adapters over a base, or all weights. Training calls are sent one after the other, numbered from 1. */
export interface RemoteModel {
  readonly id: string;
  /** Of the adapters, as the server says; null: it does not. */
  readonly alpha: number | null;
  /** No training call was sent yet. */
  readonly isUnused: boolean;
  forward(rows: readonly TrainingRow[]): Promise<Float32Array[]>;
  /** Accumulates a gradient. @returns log-probabilities of every target. */
  forwardBackward(rows: readonly TrainingRow[], loss: NativeLoss): Promise<Float32Array[]>;
  /** @returns NaN where the server does not say the gradient's norm. */
  optimStep(adam: AdamOptions): Promise<{ gradNorm: number }>;
  save(): Promise<string>;
  /** Only as the first call of a model: some servers refuse it later. */
  load(path: string, withOptimizer: boolean): Promise<void>;
  /** A sampling session over the present weights, or weights to sample from. */
  sampler(): Promise<SamplingSource>;
  /**
   * Writes an archive (tar, maybe gzip) of the adapter as PEFT's files, or of the whole model as a Hugging Face folder.
   * @returns the folder of a server on this machine in its place; null where the server exports none.
   */
  archive(into: string): Promise<"written" | URL | null>;
  /** Frees it; not where that would delete weights that it saved. */
  unload(): Promise<void>;
}

/** What `asample` names. */
export type SamplingSource = { sampling_session_id: string } | { model_path: string };

/** The answer to every request whose result comes later. */
export const submitted = z.object({
  request_id: z.union([z.string(), z.number()]).transform(String),
});

/** A model that a server holds by a name. */
export function remoteModel(session: RemoteSession, id: string, alpha: number | null): RemoteModel {
  const { connection, dialect } = session;
  let seq = 0;
  let hasSaved = false;
  let last: Promise<unknown> = Promise.resolve();
  /** Submits in order; a number that was refused at once is used again, since some servers allow no gap. */
  const train = async (
    path: string,
    body: (seqId: number) => object | Uint8Array,
  ): Promise<WireAnswer> => {
    const submission = last.then(async () => {
      seq += 1;
      try {
        const request = { body: body(seq), repeats: dialect.repeats };
        return await connection.call(path, submitted, request);
      } catch (error) {
        if (wasRefused(error)) seq -= 1;
        throw error;
      }
    });
    last = submission.catch(() => undefined);
    return connection.future((await submission).request_id);
  };
  const forward = async (call: Omit<ForwardBackwardCall, "modelId" | "seqId">) => {
    const answer = await train(
      call.forwardOnly && dialect.forward === "path" ? "forward" : "forward_backward",
      (seqId) => {
        const whole = { ...call, modelId: id, seqId };
        return dialect.encoding === "json" ? jsonCall(whole) : encodeCall(whole);
      },
    );
    return checkedOutputs(readReply(answer, connection), call.rows, connection);
  };
  const chunked = async (
    rows: readonly TrainingRow[],
    call: Omit<ForwardBackwardCall, "modelId" | "seqId" | "rows">,
    row: NativeLoss["row"],
  ): Promise<Float32Array[]> => {
    const outputs: Float32Array[] = [];
    for (const chunk of chunksOf(rows))
      outputs.push(...(await forward({ ...call, rows: chunk.map(row) })));
    return outputs;
  };
  const saveSampler = async (source: object): Promise<z.output<typeof samplerSaved>> => {
    const answer = await train("save_weights_for_sampler", (seq_id) => ({
      model_id: id,
      ...source,
      seq_id,
      type: "save_weights_for_sampler",
    }));
    return samplerSaved.parse(answer.json);
  };
  return {
    id,
    alpha,
    get isUnused() {
      return seq === 0;
    },
    forward(rows) {
      const zeros = (row: TrainingRow): number[] => row.targets.map(() => 0);
      const forwardOnly = dialect.forward !== "weights";
      return chunked(rows, { lossFn: "cross_entropy", config: {}, forwardOnly }, (row) =>
        wireRow(row, { weights: forwardOnly ? row.fields.weights : zeros(row) }),
      );
    },
    forwardBackward(rows, { lossFn, config, row }) {
      return chunked(rows, { lossFn, config, forwardOnly: false }, row);
    },
    async optimStep(adam) {
      const { learningRate, beta1, beta2, epsilon, weightDecay, gradClipNorm } = adam;
      const answer = await train("optim_step", (seq_id) => ({
        model_id: id,
        adam_params: {
          learning_rate: learningRate,
          beta1,
          beta2,
          eps: epsilon,
          weight_decay: weightDecay,
          // 0: no clipping.
          grad_clip_norm: Number.isFinite(gradClipNorm) ? gradClipNorm : 0,
        },
        seq_id,
        type: "optim_step",
      }));
      const { metrics } = stepped.parse(answer.json);
      const [, norm = NaN] = Object.entries(metrics ?? {}).find(([k]) => /grad_norm/.test(k)) ?? [];
      return { gradNorm: norm };
    },
    async save() {
      const answer = await train("save_weights", (seq_id) => ({
        model_id: id,
        path: uniqueName(),
        seq_id,
        type: "save_weights",
        ...dialect.saveOptimizer,
      }));
      hasSaved = true;
      return saved.parse(answer.json).path;
    },
    async load(path, optimizer) {
      await train("load_weights", (seq_id) => ({
        model_id: id,
        path,
        optimizer,
        seq_id,
        type: "load_weights",
      }));
    },
    async sampler() {
      const number = session.next.sampler++;
      const reply = await saveSampler({ sampling_session_seq_id: number });
      const { sampling_session_id, path } = reply;
      if (sampling_session_id != null) return { sampling_session_id };
      return { model_path: path ?? "" };
    },
    async archive(into) {
      const { path } = await saveSampler({ path: uniqueName() });
      const name = path?.split("/").at(-1);
      if (path == null || name === undefined) return null;
      try {
        return await connection.download(
          `/api/v1/training_runs/${encodeURIComponent(id)}/checkpoints/${encodeURIComponent(name)}/archive`,
          into,
        );
      } catch (error) {
        if (wasRefused(error)) return null;
        throw error;
      }
    },
    async unload() {
      if (hasSaved && !dialect.keepsSaved) return;
      // A server without it keeps the model until the session ends.
      await connection
        .call("unload_model", submitted, { body: { model_id: id, type: "unload_model" } })
        .then(({ request_id }) => connection.future(request_id))
        .catch(() => undefined);
    },
  };
}

const saved = z.object({ path: z.string() });

const stepped = z.object({ metrics: z.record(z.string(), z.number()).nullish() });

const samplerSaved = z.object({
  path: z.string().nullish(),
  sampling_session_id: z.string().nullish(),
});

function uniqueName(): string {
  return `agentrl-${randomUUID()}`;
}

function wasRefused(error: unknown): boolean {
  const { code } = error as Partial<AgentrlError>;
  return code === "ENGINE_REFUSED" || code === "ENGINE_LOST";
}

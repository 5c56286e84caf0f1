import { randomUUID } from "node:crypto";
import type { AdamOptions } from "../../autodiff/adamw.ts";
import { type AgentrlError, ConfigError, ExternalError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import type { FreshLora } from "../local/engine-files.ts";
import type { TrainingRow } from "../engine.ts";
import type { Connection, WireAnswer } from "./connection.ts";
import type { Dialect } from "./dialect.ts";
import { jsonCall, replyOfJson, replySchema } from "./json-messages.ts";
import {
  decodeReply,
  encodeCall,
  type ForwardBackwardCall,
  type ForwardBackwardReply,
} from "./messages.ts";
import { ATTENTION, MLP } from "./limits.ts";
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

/** Adapters over a base, at a server. Training calls are sent one after the other, numbered from 1. */
export interface RemoteModel {
  readonly id: string;
  /** Of the adapters, as the server says; null: it does not. */
  readonly alpha: number | null;
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
  /** The adapter as PEFT's files: a tar.gz, or the folder of a server on this machine; null where the server has none. */
  archive(): Promise<Uint8Array | URL | null>;
  /** Frees it; not where that would delete weights that it saved. */
  unload(): Promise<void>;
}

/** What `asample` names. */
export type SamplingSource = { sampling_session_id: string } | { model_path: string };

/** Rows and bytes of one forward_backward, at most (the SDK's limits are 1024 rows and 5 MB). */
const MAX_ROWS = 256;
const MAX_NUMBERS = 400_000;

/** The answer to every request whose result comes later. */
const submitted = z.object({ request_id: z.union([z.string(), z.number()]).transform(String) });

const created = z.object({
  model_id: z.string(),
  lora_config: z.object({ alpha: z.number().nullish() }).nullish(),
});

/** Makes fresh adapters. @throws {ConfigError} ENGINE_UNFIT when the server's scale differs from the recipe's. */
export async function createModel(session: RemoteSession, lora: FreshLora): Promise<RemoteModel> {
  const { connection, dialect, sessionId, baseModel } = session;
  const { rank, alpha, seed, targets } = lora;
  const has = (...names: string[]): boolean => names.every((name) => targets.includes(name));
  const submission = await connection.call("create_model", submitted, {
    repeats: dialect.repeats,
    body: {
      session_id: sessionId,
      model_seq_id: session.next.model++,
      base_model: baseModel,
      lora_config: {
        rank,
        seed: seed % 2 ** 31,
        train_unembed: false,
        train_mlp: has(...MLP),
        train_attn: has(...ATTENTION),
        ...dialect.loraConfig({ alpha }),
      },
      type: "create_model",
    },
  });
  const answer = created.parse((await connection.future(submission.request_id)).json);
  const found = answer.lora_config?.alpha ?? dialect.alpha({ rank, alpha });
  const model = modelOf(session, answer.model_id, found);
  if (found === null || found === alpha) return model;
  await model.unload();
  const message = `policy.lora.alpha is ${alpha}: ${connection.where} scales adapters of rank ${rank} by alpha ${found}, whatever a client asks. Set policy.lora.alpha: ${found}.`;
  throw new ConfigError("ENGINE_UNFIT", message);
}

function modelOf(session: RemoteSession, id: string, alpha: number | null): RemoteModel {
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
    async archive() {
      const { path } = await saveSampler({ path: uniqueName() });
      const name = path?.split("/").at(-1);
      if (path == null || name === undefined) return null;
      try {
        return await connection.download(
          `/api/v1/training_runs/${encodeURIComponent(id)}/checkpoints/${encodeURIComponent(name)}/archive`,
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

function readReply({ bytes, json }: WireAnswer, { where }: Connection): ForwardBackwardReply {
  try {
    return json === null || json === undefined
      ? decodeReply(bytes)
      : replyOfJson(replySchema.parse(json));
  } catch (error) {
    throw badReply(where, error instanceof Error ? error.message : "");
  }
}

function badReply(where: string, what: string): ExternalError {
  const message = `${where}, forward_backward: the result is not of the expected form: ${what}. Nothing was learned since the last checkpoint; continue with --resume.`;
  return new ExternalError("HTTP_BAD_REPLY", message);
}

/** @throws {ExternalError} HTTP_BAD_REPLY when a row has no log-probability for each of its targets. */
function checkedOutputs(
  { outputs }: ForwardBackwardReply,
  rows: ForwardBackwardCall["rows"],
  { where }: Connection,
): Float32Array[] {
  return rows.map(({ tokens }, i) => {
    const logprobs = outputs[i]?.["logprobs"];
    if (logprobs?.length === tokens.length) return new Float32Array(logprobs);
    throw badReply(
      where,
      `row ${i} has ${logprobs?.length ?? "no"} log-probabilities for ${tokens.length} tokens`,
    );
  });
}

function* chunksOf(rows: readonly TrainingRow[]): Generator<TrainingRow[]> {
  let chunk: TrainingRow[] = [];
  let numbers = 0;
  for (const row of rows) {
    const size = 4 * row.inputs.length;
    if (chunk.length === MAX_ROWS || (chunk.length > 0 && numbers + size > MAX_NUMBERS)) {
      yield chunk;
      [chunk, numbers] = [[], 0];
    }
    chunk.push(row);
    numbers += size;
  }
  if (chunk.length > 0) yield chunk;
}

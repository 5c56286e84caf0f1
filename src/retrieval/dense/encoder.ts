import { availableParallelism } from "node:os";
import { DataError } from "../../base/errors.ts";
import { sha256 } from "../../base/files.ts";
import { halfToFloat } from "../../base/half.ts";
import { parseOptions } from "../../base/schema.ts";
import {
  type EncoderOptions,
  encoderOptions,
  type EncoderSettings,
  encoderSettings,
} from "./encoder-settings.ts";
import {
  findModel,
  loadOptions,
  modelFailure,
  type ModelFiles,
  modelHash,
  type ModelPlace,
} from "./model-files.ts";
import {
  normalizeVectors,
  pool,
  lengthBatches,
  modelInputs,
  type TokenizeFunction,
  tokenRow,
  tokenizeWith,
  padIdOf,
} from "./token-rows.ts";

export interface Encoder {
  /** The folder or hub name that it was opened by. */
  readonly model: string;
  /** Of the model's files. */
  readonly hash: string;
  readonly settings: EncoderSettings;
  /** D. */
  readonly dimensions: number;
  /** Changes with everything that changes a vector: files, prefixes, pooling, normalisation, length. */
  readonly fingerprint: string;
  /** @returns [n, D], in the order of the texts. */
  encodeQueries(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array>;
  /** @returns [n, D], in the order of the texts. */
  encodePassages(texts: readonly string[], signal?: AbortSignal): Promise<Float32Array>;
  close(): Promise<void>;
}

/** How the model runs: none of it changes what it gives (beyond rounding). */
export interface EncoderRun {
  /** Of the runtime, inside an operator. Default: one per core. */
  threads?: number | undefined;
  /** Default: the CPU. The caller tests that it works here. */
  device?: string | undefined;
  /** Tokens of a batch, padding included. Default: 1 024, on another device than the CPU 32 768. */
  batchTokens?: number | undefined;
}

/** Measured on two cores: 512 and 1 024 take half the time of 4 096, whose activations leave the cache. */
const BATCH_TOKENS = 1024;
/** A GPU is idle between small batches. Not measured. */
const DEVICE_BATCH_TOKENS = 32_768;

/**
 * Opens a text embedding model in Hugging Face layout.
 *
 * @param model a folder with config.json, tokenizer.json and onnx/model*.onnx, read from disk alone; or a hub name.
 * @throws as `findModel`; RECIPE_BAD_VALUE for bad options.
 */
export async function openEncoder(
  model: string,
  options: EncoderOptions = {},
  { threads = availableParallelism(), device, ...run }: EncoderRun = {},
): Promise<Encoder> {
  const isCpu = device === undefined || device === "cpu";
  const { batchTokens = isCpu ? BATCH_TOKENS : DEVICE_BATCH_TOKENS } = run;
  const given = parseOptions(encoderOptions, options, "encoder");
  const files = await findModel(model, given.dtype);
  const { tokenize, padId, vectorsOf, dispose } = await load(files, { threads, device });
  const settings = await encoderSettings(files, given);
  const encode = async (texts: string[], signal?: AbortSignal): Promise<Float32Array> => {
    const rows = texts.map((text) => tokenRow(tokenize, [text], settings.maxTokens));
    let vectors: Float32Array | null = null;
    const lengths = rows.map(({ ids }) => ids.length);
    for (const batch of lengthBatches(lengths, batchTokens)) {
      signal?.throwIfAborted();
      const part = await vectorsOf(
        modelInputs(
          files.library,
          batch.map((i) => rows[i]!),
          padId,
        ),
        batch.map((i) => lengths[i]!),
        settings,
      );
      const width = part.length / batch.length;
      vectors ??= new Float32Array(texts.length * width);
      for (const [at, i] of batch.entries())
        vectors.set(part.subarray(at * width, (at + 1) * width), i * width);
    }
    return vectors ?? new Float32Array(0);
  };
  const { length: dimensions } = await encode(["dimensions"]);
  const hash = await modelHash(files);
  return {
    model: files.source,
    hash,
    settings,
    dimensions,
    fingerprint: sha256(JSON.stringify([hash, settings])).slice(0, 16),
    encodeQueries: (texts, signal) =>
      encode(
        texts.map((text) => settings.queryPrefix + text),
        signal,
      ),
    encodePassages: (texts, signal) =>
      encode(
        texts.map((text) => settings.passagePrefix + text),
        signal,
      ),
    close: dispose,
  };
}

interface LoadedModel {
  tokenize: TokenizeFunction;
  padId: number;
  /** @returns [B, D] */
  vectorsOf: (
    inputs: object,
    lengths: readonly number[],
    settings: EncoderSettings,
  ) => Promise<Float32Array>;
  dispose: () => Promise<void>;
}

/** What a model returns, as far as it is read. */
export interface ModelTensor {
  readonly dims: readonly number[];
  readonly type: string;
  readonly data: Float32Array | Uint16Array;
}

async function load(files: ModelFiles, place: ModelPlace): Promise<LoadedModel> {
  const { AutoTokenizer, AutoModel } = files.library;
  const options = loadOptions(files, place);
  try {
    const tokenizer = await AutoTokenizer.from_pretrained(files.source, options);
    const model = await AutoModel.from_pretrained(files.source, options);
    return {
      tokenize: tokenizeWith(tokenizer),
      padId: padIdOf(tokenizer),
      async vectorsOf(inputs, lengths, settings) {
        const outputs = (await model(inputs)) as Record<string, ModelTensor>;
        return sentenceVectors(files, outputs, lengths, settings);
      },
      dispose: async () => {
        await model.dispose();
      },
    };
  } catch (error) {
    throw modelFailure(files, error);
  }
}

function sentenceVectors(
  { source }: ModelFiles,
  outputs: Record<string, ModelTensor>,
  lengths: readonly number[],
  { pooling, normalize }: EncoderSettings,
): Float32Array {
  const hidden = outputs["last_hidden_state"] ?? outputs["token_embeddings"];
  const ready = outputs["sentence_embedding"];
  if (hidden?.dims.length !== 3 && ready === undefined)
    throw new DataError(
      "ENCODER_BAD",
      `${source}: returns ${Object.keys(outputs).join(", ")}; expected last_hidden_state of [batch, tokens, dimensions]. Export it for feature extraction.`,
    );
  const [width = 0, dimensions = 0] = (hidden ?? ready!).dims.slice(1);
  const vectors =
    hidden === undefined
      ? floatsOf(ready!)
      : pool({ data: floatsOf(hidden), width, dimensions, lengths }, pooling);
  requireFinite(source, vectors);
  if (normalize) normalizeVectors(vectors, vectors.length / lengths.length);
  return vectors;
}

/** The elements of a tensor as f32; halves come as their bits. */
export function floatsOf({ type, data }: ModelTensor): Float32Array {
  return type === "float16" ? Float32Array.from(data, halfToFloat) : Float32Array.from(data);
}

/** @throws {DataError} ENCODER_BAD for NaN or an infinity: of damaged weights, or of fp16 where it overflows. */
export function requireFinite(source: string, computed: readonly number[] | Float32Array): void {
  if (computed.every((x) => Number.isFinite(x))) return;
  throw new DataError(
    "ENCODER_BAD",
    `${source}: computes non-finite numbers. Download the model again, or choose another --dtype: fp16 models overflow on some machines.`,
  );
}

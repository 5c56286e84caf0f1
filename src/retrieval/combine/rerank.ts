import { availableParallelism } from "node:os";
import { z } from "../../base/schema.ts";
import { around, defineRetriever, retrieverSchema, type Hit } from "../retriever.ts";
import { searchedText } from "../store/passage-file.ts";
import { DataError } from "../../base/errors.ts";
import { sha256 } from "../../base/files.ts";
import { floatsOf, requireFinite, type EncoderRun, type ModelTensor } from "../dense/encoder.ts";
import {
  findModel,
  loadOptions,
  modelFailure,
  modelHash,
  modelJson,
  type ModelDtype,
  type ModelFiles,
} from "../dense/model-files.ts";
import {
  lengthBatches,
  modelInputs,
  padIdOf,
  tokenRow,
  tokenizeWith,
} from "../dense/token-rows.ts";

/** Reorders the first hits of a retriever with a model that reads query and passage together. */
export const rerank = defineRetriever({
  name: "rerank",
  summary: "Another retriever's first hits, reordered by a cross-encoder.",
  options: z.strictObject({
    of: retrieverSchema,
    /** Folder or hub name of a cross-encoder in ONNX. */
    model: z.string(),
    /** Number of hits to rerank; later hits are dropped. */
    depth: z.int().min(1).default(50),
    /** Of query and passage together. */
    maxTokens: z.int().min(8).optional(),
  }),
  async open({ of, model, depth, maxTokens }, context) {
    const source = await context.open(of);
    const encoder = await openCrossEncoder(model, { maxTokens }).catch(async (error: unknown) => {
      await source.close();
      throw error;
    });
    const settings = { model: encoder.fingerprint, depth };
    return {
      ...around("rerank", [source], settings),
      async search(queries, k, asked) {
        const found = await source.search(queries, depth, asked);
        const results: Hit[][] = [];
        for (const [i, hits] of found.entries()) {
          const ordered = await reordered(encoder, { query: queries[i]!, hits }, asked?.signal);
          results.push(ordered.slice(0, k));
        }
        return results;
      },
      close: async () => {
        await Promise.all([source.close(), encoder.close()]);
      },
    };
  },
});

/** Equal scores stay in the order in which they were found. */
async function reordered(
  encoder: CrossEncoder,
  { query, hits }: { query: string; hits: readonly Hit[] },
  signal?: AbortSignal,
): Promise<Hit[]> {
  const scores = await encoder.score(query, hits.map(searchedText), signal);
  return hits.map((hit, i) => ({ ...hit, score: scores[i]! })).sort((a, b) => b.score - a.score);
}

interface CrossEncoder {
  /** Of the model's files and the length that it reads. */
  readonly fingerprint: string;
  /** @returns one logit per passage; only their order means something. */
  score(query: string, passages: readonly string[], signal?: AbortSignal): Promise<Float32Array>;
  close(): Promise<void>;
}

interface CrossEncoderOptions extends EncoderRun {
  /** Of query and passage together; the longer of the two loses its end. Default: what the model can read, at most 512. */
  maxTokens?: number | undefined;
  dtype?: ModelDtype | undefined;
}

/** Pairs are long: measured on two cores as for `openEncoder`. */
const BATCH_TOKENS = 1024;

/**
 * Opens a cross-encoder: a sequence-classification model with one label (or two, of which the second means relevant).
 *
 * @param model a folder or hub name, as for `openEncoder`.
 * @throws as `openEncoder`; ENCODER_BAD also for a model with more labels.
 */
export async function openCrossEncoder(
  model: string,
  {
    threads = availableParallelism(),
    batchTokens = BATCH_TOKENS,
    maxTokens,
    dtype,
  }: CrossEncoderOptions = {},
): Promise<CrossEncoder> {
  const files = await findModel(model, dtype);
  const { tokenizer, classifier } = await load(files, threads);
  const tokenize = tokenizeWith(tokenizer);
  const config = (await modelJson(files, "config.json")) as { max_position_embeddings?: number };
  const limit = Math.min(maxTokens ?? 512, config.max_position_embeddings ?? Infinity);
  const scoreRows = async (rows: readonly ReturnType<typeof tokenRow>[]): Promise<number[]> => {
    const inputs = modelInputs(files.library, rows, padIdOf(tokenizer));
    const { logits } = (await classifier(inputs)) as { logits?: ModelTensor };
    return relevance(files, logits);
  };
  await scoreRows([tokenRow(tokenize, ["query", "passage"], limit)]);
  return {
    fingerprint: sha256(JSON.stringify([await modelHash(files), limit])).slice(0, 16),
    async score(query, passages, signal) {
      const rows = passages.map((passage) => tokenRow(tokenize, [query, passage], limit));
      const scores = new Float32Array(passages.length);
      const lengths = rows.map(({ ids }) => ids.length);
      for (const batch of lengthBatches(lengths, batchTokens)) {
        signal?.throwIfAborted();
        const found = await scoreRows(batch.map((i) => rows[i]!));
        for (const [at, i] of batch.entries()) scores[i] = found[at]!;
      }
      return scores;
    },
    close: async () => {
      await classifier.dispose();
    },
  };
}

async function load(files: ModelFiles, threads: number) {
  const { AutoTokenizer, AutoModelForSequenceClassification } = files.library;
  const options = loadOptions(files, { threads });
  try {
    const tokenizer = await AutoTokenizer.from_pretrained(files.source, options);
    const classifier = await AutoModelForSequenceClassification.from_pretrained(
      files.source,
      options,
    );
    return { tokenizer, classifier };
  } catch (error) {
    throw modelFailure(files, error);
  }
}

function relevance({ source }: ModelFiles, logits?: ModelTensor): number[] {
  const [rows = 0, labels = 0] = logits?.dims ?? [];
  if (logits === undefined || labels < 1 || labels > 2)
    throw new DataError(
      "ENCODER_BAD",
      `${source}: is not a cross-encoder: it returns ${logits === undefined ? "no logits" : `${labels} labels`}; expected 1 or 2. Export it for text classification.`,
    );
  const values = floatsOf(logits);
  requireFinite(source, values);
  return Array.from({ length: rows }, (_, row) =>
    labels === 1 ? values[row]! : values[2 * row + 1]! - values[2 * row]!,
  );
}

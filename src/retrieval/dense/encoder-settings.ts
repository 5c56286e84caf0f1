import { z } from "../../base/schema.ts";
import { isE5, MODEL_DTYPES, type ModelFiles, modelJson } from "./model-files.ts";
import { type Pooling, POOLINGS } from "./token-rows.ts";

/** How text becomes a vector; what is absent comes from the model's own files, or else from its family. */
export const encoderOptions = z.strictObject({
  /** Put before a query; `query: ` for E5. */
  queryPrefix: z.string().optional(),
  /** Put before a passage; `passage: ` for E5. */
  passagePrefix: z.string().optional(),
  pooling: z.enum(POOLINGS).optional(),
  /** Scale vectors to length 1: inner products are then cosines. */
  normalize: z.boolean().optional(),
  /** Longer texts are truncated. */
  maxTokens: z.int().min(4).optional(),
  /** The model file: fp32 is `onnx/model.onnx`, q8 `onnx/model_quantized.onnx`, … Default: the first that exists. */
  dtype: z.enum(MODEL_DTYPES).optional(),
});
export type EncoderOptions = z.output<typeof encoderOptions>;

/** Complete settings, as stored in an index. */
export const encoderSettingsSchema = z.strictObject({
  queryPrefix: z.string(),
  passagePrefix: z.string(),
  pooling: z.enum(POOLINGS),
  normalize: z.boolean(),
  maxTokens: z.int().min(4),
  dtype: z.enum(MODEL_DTYPES),
});
export type EncoderSettings = z.output<typeof encoderSettingsSchema>;

/** Where a model does not say more: E5's own limit, and what most encoders were trained with. */
const DEFAULT_MAX_TOKENS = 512;

/**
 * Settings of a model: options first; then `modules.json`, `1_Pooling/config.json`, `sentence_bert_config.json` and
 * `config_sentence_transformers.json` of sentence-transformers; then mean pooling, length 1, E5's prefixes for E5.
 */
export async function encoderSettings(
  files: ModelFiles,
  options: EncoderOptions,
): Promise<EncoderSettings> {
  const config = (await modelJson(files, "config.json")) as ModelConfig | undefined;
  const layout = await sentenceLayout(files);
  const e5 = isE5(files, config);
  const longest = config?.max_position_embeddings ?? Infinity;
  return {
    queryPrefix: options.queryPrefix ?? layout.queryPrefix ?? (e5 ? "query: " : ""),
    passagePrefix: options.passagePrefix ?? layout.passagePrefix ?? (e5 ? "passage: " : ""),
    pooling: options.pooling ?? layout.pooling ?? "mean",
    normalize: options.normalize ?? layout.normalize ?? true,
    maxTokens: Math.min(options.maxTokens ?? layout.maxTokens ?? DEFAULT_MAX_TOKENS, longest),
    dtype: files.dtype,
  };
}

interface ModelConfig {
  max_position_embeddings?: number;
}

interface SentenceLayout {
  queryPrefix?: string | undefined;
  passagePrefix?: string | undefined;
  pooling?: Pooling | undefined;
  normalize?: boolean | undefined;
  maxTokens?: number | undefined;
}

/** What sentence-transformers' files say, where there are any. */
async function sentenceLayout(files: ModelFiles): Promise<SentenceLayout> {
  const modules = await modelJson(files, "modules.json");
  const types = Array.isArray(modules)
    ? modules.map(({ type }: { type?: unknown }) => String(type).replace(/^.*\./, ""))
    : null;
  const pooling = (await modelJson(files, "1_Pooling/config.json")) as PoolingConfig | undefined;
  const lengths = (await modelJson(files, "sentence_bert_config.json")) as
    { max_seq_length?: number | null } | undefined;
  const { prompts = {} } = ((await modelJson(files, "config_sentence_transformers.json")) ??
    {}) as { prompts?: Record<string, string> };
  return {
    queryPrefix: nonEmpty(prompts["query"]),
    passagePrefix: nonEmpty(prompts["passage"] ?? prompts["document"]),
    pooling: poolingOf(pooling ?? {}),
    normalize: types?.includes("Normalize"),
    maxTokens: lengths?.max_seq_length ?? undefined,
  };
}

interface PoolingConfig {
  pooling_mode_cls_token?: boolean;
  pooling_mode_mean_tokens?: boolean;
  pooling_mode_lasttoken?: boolean;
}

function poolingOf(config: PoolingConfig): Pooling | undefined {
  if (config.pooling_mode_cls_token === true) return "cls";
  if (config.pooling_mode_lasttoken === true) return "last";
  return config.pooling_mode_mean_tokens === true ? "mean" : undefined;
}

/** Newer versions of sentence-transformers write empty prompts into every model. */
function nonEmpty(prompt: string | undefined): string | undefined {
  return prompt === "" ? undefined : prompt;
}

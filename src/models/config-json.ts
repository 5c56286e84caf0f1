import { isDeepStrictEqual } from "node:util";
import { DataError } from "../base/errors.ts";
import { checkOptions, quote, z } from "../base/schema.ts";
import { type Architecture, commonKeysOf } from "./architectures/architecture.ts";
import { suggest } from "../base/nearest.ts";
import { architectures } from "./architectures/index.ts";
import type { DecoderConfig } from "./config.ts";

/**
 * Reads a Hugging Face `config.json`.
 *
 * @param where the file, for messages.
 * @throws {DataError} MODEL_CONFIG_UNSUPPORTED with the key, its value and the allowed values: an unregistered architecture,
 *   a value that the decoder does not support, or an unknown key that may affect the computation.
 */
export function parseDecoderConfig(json: unknown, where: string): DecoderConfig {
  const fail = (what: string): DataError =>
    new DataError("MODEL_CONFIG_UNSUPPORTED", `${where}: ${what}`);
  if (typeof json !== "object" || json === null || Array.isArray(json))
    throw fail(`is ${quote(json)}: expected keys and values, including model_type.`);
  const keys = json as Record<string, unknown>;
  const architecture = architectures.parts.find(({ name }) => name === keys["model_type"]);
  if (architecture === undefined) {
    const found = keys["model_type"];
    const hint = suggest(typeof found === "string" ? found : "", architectures.names);
    throw fail(`model_type is ${quote(found)}; this architecture is not supported. ${hint}`);
  }
  const identity = {
    model_type: z.literal(architecture.name),
    architectures: z.tuple([z.literal(architecture.className)]).nullish(),
  };
  refuseUnread(architecture, { ...architecture.schema.shape, ...identity }, keys, fail);
  const who = checkOptions(z.object(identity), keys);
  const what = checkOptions(architecture.schema, keys);
  const problem = who.problem ?? what.problem;
  if (what.problem !== null || problem !== null)
    throw fail(`${problem?.path.join(".") ?? ""} ${problem?.message ?? ""}`);
  return checkSizes(architecture.toConfig(what.value), fail);
}

/** An unknown key could mean a different model, so it is an error. */
function refuseUnread(
  { name }: Architecture,
  read: z.ZodRawShape,
  keys: Readonly<Record<string, unknown>>,
  fail: (what: string) => DataError,
): void {
  for (const [key, value] of Object.entries(keys)) {
    if (Object.hasOwn(read, key) || isIgnored(key, value)) continue;
    throw fail(
      `${key} is ${quote(value)}; models of type ${name} do not have this key. ${suggest(key, Object.keys(read))} If it does not affect the model's output, remove it from the file.`,
    );
  }
}

function checkSizes(config: DecoderConfig, fail: (what: string) => DataError): DecoderConfig {
  const { heads, kvHeads, headDim } = config;
  if (heads % kvHeads !== 0)
    throw fail(`num_key_value_heads is ${kvHeads}: expected a divisor of the ${heads} heads.`);
  if (headDim % 2 !== 0)
    throw fail(
      `head_dim is ${headDim} (missing, it is hidden_size ${config.hiddenSize} / ${heads} heads): expected an even whole number, because rotary positions rotate halves.`,
    );
  return config;
}

/**
 * The `config.json` from which transformers loads the same model.
 * @throws {DataError} MODEL_CONFIG_UNSUPPORTED when its architecture's format cannot express the configuration.
 */
export function toHuggingFaceConfig(config: DecoderConfig): Record<string, unknown> {
  const architecture = architectures.get(config.architecture, "architecture");
  const { name, className } = architecture;
  const json = {
    architectures: [className],
    model_type: name,
    ...commonKeysOf(config),
    ...architecture.toKeys(config),
  };
  const back = parseDecoderConfig(json, "the config.json to be written");
  const lost = (Object.keys(back) as (keyof DecoderConfig)[]).find(
    (key) => !isDeepStrictEqual(back[key], config[key]),
  );
  if (lost !== undefined)
    throw new DataError(
      "MODEL_CONFIG_UNSUPPORTED",
      `${lost} of the ${name} model is ${quote(config[lost])}, but a config.json of this architecture would say ${quote(back[lost])}. Choose an architecture that supports it: ${architectures.names.join(", ")}.`,
    );
  return config.valueHead === "instead" ? { ...json, ...criticKeys(className) } : json;
}

/** A critic is no language model: transformers loads it as a classifier with one label, and `parseDecoderConfig` refuses it. */
function criticKeys(className: string): Record<string, unknown> {
  const critic = className.replace("ForCausalLM", "ForSequenceClassification");
  return { architectures: [critic], num_labels: 1 };
}

/**
 * Keys of `config.json` that do not affect the decoder's output: provenance, storage, generation settings, and heads other
 * than the language model's. Older versions of transformers wrote all of them into every file.
 */
const IGNORED: ReadonlySet<string> = new Set([
  // Provenance and storage.
  ...["transformers_version", "torch_dtype", "dtype", "transformers.js_config", "is_llama_config"],
  ...["model_name", "tokenizer_class", "finetuning_task", "problem_type", "prefix"],
  // Initialisation and execution options that do not change results.
  ...["initializer_range", "use_cache", "pretraining_tp", "chunk_size_feed_forward"],
  ...["return_dict", "output_hidden_states", "output_attentions", "torchscript", "use_bfloat16"],
  ...["tf_legacy_loss", "use_flash_attn", "attn_implementation", "max_sequence_length"],
  // Heads for other tasks.
  ...["id2label", "label2id", "num_labels", "task_specific_params"],
  // Generation: read from generation_config.json (only the token ids are read from here when that file is missing).
  ...["bos_token_id", "eos_token_id", "pad_token_id", "sep_token_id", "unk_token_id"],
  ...["cls_token_id", "mask_token_id", "decoder_start_token_id"],
  ...["max_length", "min_length", "do_sample", "early_stopping", "num_beams", "num_beam_groups"],
  ...["diversity_penalty", "temperature", "top_k", "top_p", "typical_p", "repetition_penalty"],
  ...["length_penalty", "no_repeat_ngram_size", "encoder_no_repeat_ngram_size", "bad_words_ids"],
  ...["num_return_sequences", "output_scores", "return_dict_in_generate", "forced_bos_token_id"],
  ...["forced_eos_token_id", "remove_invalid_values", "exponential_decay_length_penalty"],
  ...["suppress_tokens", "begin_suppress_tokens"],
]);

/** Prefixes of a program's own notes: `_name_or_path`, `unsloth_version`. */
const NOTES = /^(_|unsloth_)/;

/** Whether an unknown key may be in `config.json`: it has no effect, or its value means "absent". */
export function isIgnored(key: string, value: unknown): boolean {
  if (IGNORED.has(key) || NOTES.test(key)) return true;
  return value === null || value === false || JSON.stringify(value) === "{}";
}

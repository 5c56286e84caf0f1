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

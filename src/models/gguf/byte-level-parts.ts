import type { DataError } from "../../base/errors.ts";
import type { GgufVocabulary } from "./gguf-vocabulary.ts";

/** Split of Llama 3 and Qwen2; `digits` is the most digits of a piece. */
const split = (digits: string): Record<string, unknown> => ({
  type: "Split",
  pattern: {
    Regex: `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|${digits}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`,
  },
  behavior: "Isolated",
  invert: false,
});

const byteLevel = (use_regex: boolean): Record<string, unknown> => ({
  type: "ByteLevel",
  add_prefix_space: false,
  trim_offsets: true,
  use_regex,
});
const sequence = (...pretokenizers: unknown[]): unknown => ({ type: "Sequence", pretokenizers });
const digitsApart = sequence({ type: "Digits", individual_digits: true }, byteLevel(true));

interface Preparation {
  normalizer: unknown;
  pre_tokenizer: unknown;
  ignoresMerges?: true;
  /** Whether BOS is put before a text where the file does not say. */
  addsBegin?: true;
}

const llama3: Preparation = {
  normalizer: null,
  pre_tokenizer: sequence(split("\\p{N}{1,3}"), byteLevel(false)),
  ignoresMerges: true,
  addsBegin: true,
};
const digits: Preparation = { normalizer: null, pre_tokenizer: digitsApart };

/**
 * The kinds of `tokenizer.ggml.pre`, as their models' tokenizer.json has them.
 * Source: llama.cpp (llama-vocab.cpp) for the names; the tokenizer.json of GPT-2, SmolLM, Qwen2 and Llama 3 for the parts.
 */
const preparations: Readonly<Record<string, Preparation>> = {
  "gpt-2": { normalizer: null, pre_tokenizer: byteLevel(true) },
  smollm: digits,
  starcoder: digits,
  qwen2: {
    normalizer: { type: "NFC" },
    pre_tokenizer: sequence(split("\\p{N}"), byteLevel(false)),
  },
  "llama-bpe": llama3,
  "llama-v3": llama3,
  llama3,
};

/** The parts of a `tokenizer.json` of byte-level BPE. @throws TOKENIZER_BAD from `fail` */
export function byteLevelParts(
  given: {
    pre: string | undefined;
    merges: readonly string[] | undefined;
    vocab: Readonly<Record<string, number>>;
  },
  vocabulary: GgufVocabulary,
  fail: (what: string) => DataError,
): Record<string, unknown> {
  const { pre, merges, vocab } = given;
  const kind =
    pre !== undefined && Object.hasOwn(preparations, pre) ? preparations[pre] : undefined;
  if (kind === undefined)
    throw fail(
      `tokenizer.ggml.pre is ${JSON.stringify(pre ?? null)}; supported: ${Object.keys(preparations).join(", ")}`,
    );
  if (merges === undefined) throw fail("a gpt2 tokenizer needs tokenizer.ggml.merges");
  const { normalizer, pre_tokenizer, ignoresMerges = false, addsBegin = false } = kind;
  const begins = (vocabulary.addsBegin ?? addsBegin) && vocabulary.beginId !== null;
  return {
    normalizer,
    pre_tokenizer,
    post_processor: begins ? beginProcessor(vocabulary) : null,
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: ignoresMerges,
      vocab,
      merges: merges.map((each) => each.split(" ")),
    },
  };
}

/** Puts BOS before a text. */
export function beginProcessor({ tokens, beginId }: GgufVocabulary): unknown {
  const token = tokens[beginId ?? 0] ?? "";
  const begin = { SpecialToken: { id: token, type_id: 0 } };
  const text = (key: "A" | "B"): unknown => ({
    Sequence: { id: key, type_id: key === "A" ? 0 : 1 },
  });
  return {
    type: "TemplateProcessing",
    single: [begin, text("A")],
    pair: [begin, text("A"), begin, text("B")],
    special_tokens: { [token]: { id: token, ids: [beginId], tokens: [token] } },
  };
}

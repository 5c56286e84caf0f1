/** The tokenizer in a GGUF file's metadata, as a `tokenizer.json`. */
import { DataError } from "../../base/errors.ts";
import { checkOptions, quote, z } from "../../base/schema.ts";
import { vocabularyMistake } from "../../text/tokenizer-vocabulary.ts";
import type { GgufHeader } from "./gguf-file.ts";

/** Values of `tokenizer.ggml.token_type`. */
const NORMAL = 1;
const UNKNOWN = 2;
const CONTROL = 3;
const USER_DEFINED = 4;
const UNUSED = 5;

const id = z.int().nonnegative().optional();
const schema = z.looseObject({
  model: z.enum(["gpt2", "llama"]),
  tokens: z.array(z.string()).min(1),
  token_type: z.array(z.int()).optional(),
  merges: z.array(z.string()).optional(),
  scores: z.array(z.number()).optional(),
  pre: z.string().optional(),
  bos_token_id: id,
  eos_token_id: id,
  eot_token_id: id,
  eom_token_id: id,
  unknown_token_id: id,
  padding_token_id: id,
  add_bos_token: z.boolean().optional(),
  add_eos_token: z.boolean().optional(),
  add_space_prefix: z.boolean().optional(),
});
const PREFIX = "tokenizer.ggml.";

/** Merges are found by cutting a token at every place. */
const LONGEST_TOKEN = 1024;

/** A file's tokenizer as Hugging Face's files, and its vocabulary. */
interface GgufTokenizer {
  json: Record<string, unknown>;
  vocabulary: GgufVocabulary;
}

/**
 * Reads byte-level BPE (`gpt2`) with a known split (`pre`), and SentencePiece (`llama`), whose merges follow from its scores.
 * @throws {DataError} TOKENIZER_BAD with the key, its value and the allowed values.
 */
export function ggufTokenizer({ metadata }: GgufHeader, path: string): GgufTokenizer {
  const fail = (what: string): DataError =>
    new DataError("TOKENIZER_BAD", `${path}: cannot be read as a tokenizer (${what}).`);
  const given = Object.fromEntries(
    [...metadata].flatMap(([key, value]) =>
      key.startsWith(PREFIX) ? [[key.slice(PREFIX.length), value] as const] : [],
    ),
  );
  const checked = checkOptions(schema, given);
  if (checked.problem !== null) {
    const { path: keys, message } = checked.problem;
    throw fail(`${PREFIX}${keys.join(".")} ${message}`);
  }
  const keys = checked.value;
  const { tokens } = keys;
  const long = tokens.find((each) => each.length > LONGEST_TOKEN);
  if (long !== undefined)
    throw fail(`${PREFIX}tokens has one of ${long.length} characters; at most ${LONGEST_TOKEN}`);
  const types = keys.token_type ?? tokens.map(() => NORMAL);
  if (types.length !== tokens.length)
    throw fail(`${PREFIX}token_type has ${types.length} entries for ${tokens.length} tokens`);
  const vocabulary: GgufVocabulary = {
    tokens,
    types,
    beginId: keys.bos_token_id ?? null,
    endId: keys.eos_token_id ?? null,
    otherEndIds: [keys.eot_token_id, keys.eom_token_id].filter((each) => each !== undefined),
    unknownId: keys.unknown_token_id ?? null,
    padId: keys.padding_token_id ?? null,
    addsBegin: keys.add_bos_token ?? null,
  };
  refuseUnknownIds(vocabulary, fail);
  const vocab = Object.fromEntries(
    tokens.flatMap((token, i) => (types[i] === UNUSED ? [] : [[token, i] as const])),
  );
  const parts =
    keys.model === "gpt2"
      ? byteLevelParts({ pre: keys.pre, merges: keys.merges, vocab }, vocabulary, fail)
      : sentencePieceParts(
          { merges: mergesFromScores(vocab, keys.scores ?? [], fail), vocab },
          { ...vocabulary, addsSpace: keys.add_space_prefix ?? true },
        );
  const added_tokens = tokens.flatMap((content, id) =>
    addedToken(content, id, types[id] ?? NORMAL),
  );
  const twice = twiceIn(tokens.filter((_, i) => types[i] !== UNUSED));
  if (twice !== null) throw fail(`${PREFIX}tokens has ${quote(twice)} twice`);
  const mistake = vocabularyMistake({ ...parts, added_tokens });
  if (mistake !== null) throw fail(mistake);
  return {
    json: { version: "1.0", truncation: null, padding: null, added_tokens, ...parts },
    vocabulary,
  };
}

function twiceIn(tokens: readonly string[]): string | null {
  const seen = new Set<string>();
  for (const token of tokens) {
    if (seen.has(token)) return token;
    seen.add(token);
  }
  return null;
}

function refuseUnknownIds(vocabulary: GgufVocabulary, fail: (what: string) => DataError): void {
  const { tokens, beginId, endId, otherEndIds, unknownId, padId } = vocabulary;
  const ids = [beginId, endId, ...otherEndIds, unknownId, padId];
  const wrong = ids.find((each) => each !== null && each >= tokens.length);
  if (wrong !== undefined)
    throw fail(`special token ${String(wrong)} is beyond the ${tokens.length} tokens`);
}

/** Tokens that are recognised anywhere in a text. */
function addedToken(
  content: string,
  index: number,
  type: number,
): (Record<string, unknown> & { id: number; content: string })[] {
  const special = type === CONTROL || type === UNKNOWN;
  if (!special && type !== USER_DEFINED) return [];
  const plain = { single_word: false, lstrip: false, rstrip: false, normalized: false };
  return [{ id: index, content, ...plain, special }];
}

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
function byteLevelParts(
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
function beginProcessor({ tokens, beginId }: GgufVocabulary): unknown {
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

type Vocab = Readonly<Record<string, number>>;

/**
 * Merges of a SentencePiece model, best first: every way to make a token from two tokens, by the token's score.
 * Source: `generate_merges` of transformers' tokenizer conversion.
 */
function mergesFromScores(
  vocab: Vocab,
  scores: readonly number[],
  fail: (what: string) => DataError,
): [string, string][] {
  const ids = new Map(Object.entries(vocab));
  const highest = [...ids.values()].reduce((most, each) => Math.max(most, each), -1);
  if (scores.length <= highest)
    throw fail(`tokenizer.ggml.scores has ${scores.length} entries for ${highest + 1} tokens`);
  const all: { pair: [string, string]; score: number; sizes: [number, number]; ids: number[] }[] =
    [];
  for (const [token, id] of ids) {
    const letters = Array.from(token);
    for (let cut = 1; cut < letters.length; cut++) {
      const pair: [string, string] = [letters.slice(0, cut).join(""), letters.slice(cut).join("")];
      const [left, right] = pair.map((each) => ids.get(each));
      if (left === undefined || right === undefined) continue;
      const sizes: [number, number] = [cut, letters.length - cut];
      all.push({ pair, score: scores[id]!, sizes, ids: [id, left, right] });
    }
  }
  // Ties: longer left part first, then the order of the vocabulary.
  all.sort(
    (a, b) =>
      b.score - a.score ||
      b.sizes[0] - a.sizes[0] ||
      b.sizes[1] - a.sizes[1] ||
      byIds(a.ids, b.ids),
  );
  return all.map(({ pair }) => pair);
}

function byIds(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((each, i) => each !== b[i]);
  return at < 0 ? 0 : a[at]! - b[at]!;
}

/** The parts of a `tokenizer.json` of SentencePiece as BPE with byte fallback, as Llama 2's. */
function sentencePieceParts(
  { merges, vocab }: { merges: readonly (readonly [string, string])[]; vocab: Vocab },
  vocabulary: GgufVocabulary & { addsSpace: boolean },
): Record<string, unknown> {
  const { addsSpace, addsBegin, beginId, unknownId, tokens } = vocabulary;
  const replace = { type: "Replace", pattern: { String: " " }, content: "▁" };
  const normalizer = addsSpace
    ? { type: "Sequence", normalizers: [{ type: "Prepend", prepend: "▁" }, replace] }
    : replace;
  const decoders = [
    { type: "Replace", pattern: { String: "▁" }, content: " " },
    ...[{ type: "ByteFallback" }, { type: "Fuse" }],
    ...(addsSpace ? [{ type: "Strip", content: " ", start: 1, stop: 0 }] : []),
  ];
  return {
    normalizer,
    pre_tokenizer: null,
    post_processor: (addsBegin ?? true) && beginId !== null ? beginProcessor(vocabulary) : null,
    decoder: { type: "Sequence", decoders },
    model: {
      type: "BPE",
      dropout: null,
      continuing_subword_prefix: null,
      unk_token: unknownId === null ? null : tokens[unknownId],
      end_of_word_suffix: null,
      fuse_unk: true,
      byte_fallback: true,
      ignore_merges: false,
      vocab,
      merges,
    },
  };
}

export interface GgufVocabulary {
  tokens: readonly string[];
  /** Of each token: 1 normal, 2 unknown, 3 control, 4 user-defined, 5 unused, 6 byte. */
  types: readonly number[];
  beginId: number | null;
  endId: number | null;
  /** Further ids that end a completion. */
  otherEndIds: readonly number[];
  unknownId: number | null;
  padId: number | null;
  /** Whether BOS is put before a text; null: not said. */
  addsBegin: boolean | null;
}

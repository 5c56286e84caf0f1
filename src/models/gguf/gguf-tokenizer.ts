/** The tokenizer in a GGUF file's metadata, as a `tokenizer.json`. */
import { DataError } from "../../base/errors.ts";
import { checkOptions, quote, z } from "../../base/schema.ts";
import { vocabularyMistake } from "../../text/tokenizer-vocabulary.ts";
import { byteLevelParts } from "./byte-level-parts.ts";
import type { GgufHeader } from "./gguf-header.ts";
import type { GgufVocabulary } from "./gguf-vocabulary.ts";
import { mergesFromScores, sentencePieceParts } from "./sentence-piece-parts.ts";

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
export interface GgufTokenizer {
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

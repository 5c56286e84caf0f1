import type { TokenizerJson } from "./tokenizer-files.ts";
import type { Part } from "./token-bytes.ts";
import { escapeRegExp } from "../base/escape-reg-exp.ts";

/** The used part of the library's tokenizer. Its parts are absent under other versions of the library. */
export interface WordSplitting {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] };
  pre_tokenizer?: { tokenizers?: { pre_tokenize?: (text: string | string[]) => string[] }[] };
}

/** Words that are kept; then all are forgotten, which costs a moment and keeps memory bounded. */
const MOST_WORDS = 100_000;
const LONGEST_WORD = 32;

/**
 * Encodes each word once. Byte-level BPE splits a text at a pattern and merges within words alone, so a text's ids are those of its words;
 * most words of a text were in an earlier one. Texts with special tokens go to the library as a whole.
 * @returns the same ids as the library; null for a tokenizer of another kind, such as SentencePiece.
 * @example // " the cat the" is split into " the", " cat", " the", of which two are encoded
 */
export function wordEncoder(
  inner: WordSplitting,
  json: TokenizerJson,
): ((text: string) => number[]) | null {
  if (!isSplitAtWords(json)) return null;
  const [split, ...others] = inner.pre_tokenizer?.tokenizers ?? [];
  if (split?.pre_tokenize === undefined || others.length !== 1) return null;
  const whole = (text: string): number[] => inner.encode(text, { add_special_tokens: false }).ids;
  const contents = json.added_tokens.map(({ content }) => escapeRegExp(content));
  const special = contents.length === 0 ? null : new RegExp(contents.join("|"), "u");
  const isComposed = json.normalizer !== null && json.normalizer !== undefined;
  const known = new Map<string, readonly number[]>();
  const wordsOf = (text: string): string[] => split.pre_tokenize?.(text) ?? [];
  return (text) => {
    if (special?.test(text) === true) return whole(text);
    const ids: number[] = [];
    for (const word of wordsOf(isComposed ? text.normalize("NFC") : text)) {
      let own = known.get(word);
      if (own === undefined) {
        // A word that is split anew on its own is none that can be encoded alone.
        const [first, ...more] = wordsOf(word);
        if (first !== word || more.length > 0) return whole(text);
        own = whole(word);
        if (known.size >= MOST_WORDS) known.clear();
        if (word.length <= LONGEST_WORD) known.set(word, own);
      }
      for (const id of own) ids.push(id);
    }
    return ids;
  };
}

/** Whether a text is split by one pattern, words become bytes, and nothing but NFC comes before. */
function isSplitAtWords({
  normalizer,
  pre_tokenizer,
  model,
  added_tokens,
}: TokenizerJson): boolean {
  const { type, pretokenizers = [] } = (pre_tokenizer ?? {}) as Part & { pretokenizers?: Part[] };
  const [split, bytes] = pretokenizers;
  const none = normalizer === null || normalizer === undefined;
  return (
    type === "Sequence" &&
    pretokenizers.length === 2 &&
    split?.type === "Split" &&
    split["behavior"] === "Isolated" &&
    split["invert"] !== true &&
    bytes?.type === "ByteLevel" &&
    bytes["use_regex"] === false &&
    bytes["add_prefix_space"] !== true &&
    (model as Part | undefined)?.type === "BPE" &&
    (none || (normalizer as Part).type === "NFC") &&
    // What normalising makes of an added token would be found in the normalised text.
    (none || added_tokens.every((token) => (token as { normalized?: unknown }).normalized !== true))
  );
}

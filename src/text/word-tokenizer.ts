import { BYTE_CHARACTERS } from "./token-bytes.ts";
import type { TokenizerFiles } from "./tokenizer-files.ts";

/**
 * A byte-level tokenizer with one token per known word, one per digit, and no merges (`ignore_merges`): a small model reads a word
 * as one token, and any other text is encoded byte by byte. Ids: special tokens, then the 256 bytes, then the words.
 *
 * @param options.words as they occur in a text, with the leading space where there is one.
 * @param options.specials texts that are always one token, such as tags; the first is EOS, the second is padding.
 */
export function wordTokenizer(options: {
  words: readonly string[];
  specials: readonly [end: string, pad: string, ...tags: string[]];
}): TokenizerFiles {
  const { words, specials } = options;
  // Special tokens are in the vocabulary too: otherwise libraries assign them new ids after the last word.
  const vocab: Record<string, number> = Object.fromEntries(specials.map((each, i) => [each, i]));
  let id = specials.length;
  for (const character of BYTE_CHARACTERS) vocab[character] = id++;
  for (const word of words) vocab[byteLevel(word)] ??= id++;
  const tokenizer = {
    version: "1.0",
    truncation: null,
    padding: null,
    added_tokens: specials.map((content, index) => ({
      id: index,
      content,
      special: true,
      normalized: false,
      single_word: false,
      lstrip: false,
      rstrip: false,
    })),
    normalizer: null,
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        {
          type: "Split",
          // An operator of two signs, a fence, a box, a word, a digit or another sign, each with the space before it; or white space.
          pattern: {
            Regex:
              " ?(?:[=<>]=|//|\\*\\*|```|\\\\boxed\\{)| ?\\p{L}+| ?\\p{N}| ?[^\\s\\p{L}\\p{N}]|\\s",
          },
          behavior: "Isolated",
          invert: false,
        },
        { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false },
      ],
    },
    post_processor: null,
    decoder: { type: "ByteLevel", add_prefix_space: true, trim_offsets: true, use_regex: true },
    model: {
      type: "BPE",
      dropout: null,
      unk_token: null,
      continuing_subword_prefix: null,
      end_of_word_suffix: null,
      fuse_unk: false,
      byte_fallback: false,
      ignore_merges: true,
      vocab,
      merges: [],
    },
  };
  const config = {
    tokenizer_class: "PreTrainedTokenizerFast",
    eos_token: specials[0],
    pad_token: specials[1],
    clean_up_tokenization_spaces: false,
    add_prefix_space: false,
  };
  return { tokenizer, config };
}

function byteLevel(text: string): string {
  return [...new TextEncoder().encode(text)].map((byte) => BYTE_CHARACTERS[byte]).join("");
}

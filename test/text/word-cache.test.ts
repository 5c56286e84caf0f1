import { Tokenizer as Library } from "@huggingface/tokenizers";
import { expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { BYTE_CHARACTERS } from "../../src/text/token-bytes.ts";
import type { TokenizerJson } from "../../src/text/tokenizer-files.ts";
import { wordEncoder, type WordSplitting } from "../../src/text/word-cache.ts";

/** Qwen2's layout: split, bytes, merges of "the" and "cat". */
const SPLIT =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";
const merges = ["t h", "th e", "c a", "ca t", "Ġ the", "Ġ cat", "Ġ Ġ", "Ċ Ċ", "' s"];
const tokens = [...BYTE_CHARACTERS, ...merges.map((each) => each.replace(" ", ""))];
const bytes = { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex: false };
const split = { type: "Split", pattern: { Regex: SPLIT }, behavior: "Isolated", invert: false };

function files(changed: Partial<TokenizerJson> = {}): TokenizerJson {
  return {
    normalizer: { type: "NFC" },
    pre_tokenizer: { type: "Sequence", pretokenizers: [split, bytes] },
    post_processor: null,
    decoder: bytes,
    model: { type: "BPE", vocab: Object.fromEntries(tokens.map((t, i) => [t, i])), merges },
    added_tokens: ["<|end|>", "<a>"].map((content, i) => {
      return { id: tokens.length + i, content, special: true, normalized: false };
    }),
    ...changed,
  };
}

const libraryOf = (json: TokenizerJson): WordSplitting =>
  new (Library as unknown as new (json: unknown, config: unknown) => WordSplitting)(json, {});

/** Pieces whose joins are hard: composing accents, spaces of all kinds, contractions, special tokens, halves of characters. */
const PIECES = [" the", "the", " cat", "'s", "'S", "s", " ", "  ", "\n", "\r\n", "\u3000", "\t", "é", "e", "\u0301", "\uAC00", "\u11A8", "1", "23", "…", "!?", "😀", "\uD83D", "<|end|>", "<a", ">", "Ω", "\uFEFF", "\u0085"]; // prettier-ignore

it("gives the library's ids for any text, words that were seen or not", () => {
  const library = libraryOf(files());
  const encode = wordEncoder(library, files())!;
  const draw = random(1);
  for (let i = 0; i < 3000; i++) {
    const text = Array.from({ length: 1 + draw.int(12) }, () => draw.pick(PIECES)).join("");
    expect(encode(text), JSON.stringify(text)).toEqual(
      library.encode(text, { add_special_tokens: false }).ids,
    );
  }
});

it("leaves tokenizers of another kind to the library", () => {
  for (const changed of [
    { normalizer: { type: "NFKC" } },
    { model: { type: "Unigram" } },
    {
      pre_tokenizer: {
        type: "Sequence",
        pretokenizers: [split, { ...bytes, add_prefix_space: true }],
      },
    },
    { pre_tokenizer: { type: "Sequence", pretokenizers: [split, { type: "Digits" }, bytes] } },
    { added_tokens: [{ id: 300, content: "é", normalized: true }] },
  ])
    expect(wordEncoder(libraryOf(files()), files(changed))).toBeNull();
  expect(wordEncoder({ encode: () => ({ ids: [] }) }, files())).toBeNull();
});

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BYTE_CHARACTERS } from "../../src/text/token-bytes.ts";
import type { TokenizerFiles } from "../../src/text/tokenizer-files.ts";
import { ggufMetadata } from "./gguf-metadata.ts";

const folder = new URL("../../../shared/data/tokenizers/", import.meta.url).pathname;

/** Whether the vocabularies and vectors, which are not part of the project, are here. */
export const hasSharedVocabularies = existsSync(join(folder, "vectors"));

/** Names of all files of vectors, sorted. */
export function vectorNames(): string[] {
  const names = readdirSync(join(folder, "vectors")).map(
    (file) => /^ggml-vocab-(.*)\.gguf\.out$/.exec(file)?.[1],
  );
  return names.filter((name) => name !== undefined).sort();
}

/** Texts with the ids that llama.cpp records for a vocabulary. */
export function vectors(name: string): { text: string; ids: number[] }[] {
  const read = (ending: string): string =>
    readFileSync(join(folder, "vectors", `ggml-vocab-${name}.gguf.${ending}`), "utf8");
  const texts = read("inp")
    .replace(/\n__ggml_vocab_test__\n$/, "")
    .split("\n__ggml_vocab_test__\n");
  const lines = read("out").replace(/\n$/, "").split("\n");
  if (texts.length !== lines.length) throw new Error(`${name}: ${texts.length} ≠ ${lines.length}`);
  return texts.map((text, i) => {
    return { text, ids: (lines[i] ?? "").split(" ").filter(Boolean).map(Number) };
  });
}

interface AddedToken {
  id: number;
  content: string;
  special: boolean;
}

function filesOf(parts: Record<string, unknown>, added: readonly AddedToken[]): TokenizerFiles {
  const added_tokens = added.map((token) => {
    return { ...token, normalized: false, single_word: false, lstrip: false, rstrip: false };
  });
  const empty = { normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
  return {
    tokenizer: {
      version: "1.0",
      truncation: null,
      padding: null,
      ...empty,
      ...parts,
      added_tokens,
    },
    config: { clean_up_tokenization_spaces: false },
  };
}

const byteLevel = (use_regex: boolean): object => {
  return { type: "ByteLevel", add_prefix_space: false, trim_offsets: true, use_regex };
};

/** GPT-2's, with the merges that its GGUF file lists. */
export function gpt2(): TokenizerFiles {
  const metadata = ggufMetadata(join(folder, "ggml-vocab-gpt-2.gguf"));
  const tokens = metadata.get("tokenizer.ggml.tokens") as string[];
  const merges = (metadata.get("tokenizer.ggml.merges") as string[]).map((each) => each.split(" "));
  const vocab = Object.fromEntries(tokens.map((token, id) => [token, id]));
  const parts = { pre_tokenizer: byteLevel(true), decoder: byteLevel(true) };
  const end = { id: 50256, content: "<|endoftext|>", special: true };
  return filesOf({ ...parts, model: { type: "BPE", ...bpe, vocab, merges } }, [end]);
}

const bpe = {
  dropout: null,
  unk_token: null,
  continuing_subword_prefix: "",
  end_of_word_suffix: "",
  fuse_unk: false,
  byte_fallback: false,
};

/** Llama's SentencePiece vocabulary as byte-pair encoding: pieces that two others make merge in order of their scores. */
export function llamaSentencePiece(): TokenizerFiles {
  const metadata = ggufMetadata(join(folder, "ggml-vocab-llama-spm.gguf"));
  const tokens = metadata.get("tokenizer.ggml.tokens") as string[];
  const scores = metadata.get("tokenizer.ggml.scores") as number[];
  const ids = new Map(tokens.map((token, id) => [token, id]));
  const merges = tokens.flatMap((token, id) =>
    splits(Array.from(token))
      .filter(([left, right]) => ids.has(left) && ids.has(right))
      .map((pair) => ({
        pair,
        score: scores[id]!,
        left: ids.get(pair[0])!,
        right: ids.get(pair[1])!,
      })),
  );
  merges.sort((a, b) => b.score - a.score || a.left - b.left || a.right - b.right);
  const model = {
    ...{ type: "BPE", ...bpe, unk_token: "<unk>", fuse_unk: true, byte_fallback: true },
    continuing_subword_prefix: null,
    end_of_word_suffix: null,
    vocab: Object.fromEntries(ids),
    merges: merges.map(({ pair }) => pair),
  };
  const replace = (from: string, content: string): object => {
    return { type: "Replace", pattern: { String: from }, content };
  };
  const parts = {
    normalizer: {
      type: "Sequence",
      normalizers: [{ type: "Prepend", prepend: "▁" }, replace(" ", "▁")],
    },
    decoder: {
      type: "Sequence",
      decoders: [
        ...[replace("▁", " "), { type: "ByteFallback" }, { type: "Fuse" }],
        { type: "Strip", content: " ", start: 1, stop: 0 },
      ],
    },
    model,
  };
  const added = ["<unk>", "<s>", "</s>"].map((content, id) => ({ id, content, special: true }));
  return filesOf(parts, added);
}

function splits(characters: readonly string[]): [string, string][] {
  return characters.slice(1).map((_, i) => {
    return [characters.slice(0, i + 1).join(""), characters.slice(i + 1).join("")];
  });
}

/** BERT's word pieces; GGUF marks beginnings of words with ▁ where BERT marks continuations with ##. */
export function bert(): TokenizerFiles {
  const metadata = ggufMetadata(join(folder, "ggml-vocab-bert-bge.gguf"));
  const tokens = (metadata.get("tokenizer.ggml.tokens") as string[]).map((token) => {
    if (/^\[.+\]$/.test(token)) return token;
    return token.startsWith("▁") ? token.slice(1) : `##${token}`;
  });
  const cleaning = { clean_text: true, handle_chinese_chars: true, strip_accents: null };
  const parts = {
    normalizer: { type: "BertNormalizer", ...cleaning, lowercase: true },
    pre_tokenizer: { type: "BertPreTokenizer" },
    decoder: { type: "WordPiece", prefix: "##", cleanup: false },
    model: {
      ...{ type: "WordPiece", unk_token: "[UNK]", continuing_subword_prefix: "##" },
      ...{ max_input_chars_per_word: 100 },
      vocab: Object.fromEntries(tokens.map((token, id) => [token, id])),
    },
  };
  const special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];
  return filesOf(
    parts,
    special.map((content) => ({ id: tokens.indexOf(content), content, special: true })),
  );
}

/** Qwen2's split of a text before its merges. */
const QWEN2_SPLIT =
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+";

/** Qwen2's, from a file of ranks: a token's merge is the pair that encoding its bytes with all lower ranks ends in. */
export function qwen2(): TokenizerFiles {
  const lines = readFileSync(join(folder, "qwen.tiktoken"), "latin1").trimEnd().split("\n");
  const tokens = lines.map((line) =>
    [...Buffer.from(line.split(" ")[0]!, "base64")].map((byte) => BYTE_CHARACTERS[byte]!).join(""),
  );
  const ranks = new Map(tokens.map((token, rank) => [token, rank]));
  const merges = tokens.flatMap((token, rank) => {
    const pieces = encodeBelow(Array.from(token), rank, ranks);
    return pieces.length === 2 ? [pieces] : [];
  });
  const parts = {
    normalizer: { type: "NFC" },
    pre_tokenizer: {
      type: "Sequence",
      pretokenizers: [
        { type: "Split", pattern: { Regex: QWEN2_SPLIT }, behavior: "Isolated", invert: false },
        byteLevel(false),
      ],
    },
    decoder: byteLevel(false),
    model: { type: "BPE", ...bpe, vocab: Object.fromEntries(ranks), merges },
  };
  const added = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"].map((content, i) => {
    return { id: tokens.length + i, content, special: true };
  });
  return filesOf(parts, added);
}

function encodeBelow(
  pieces: string[],
  limit: number,
  ranks: ReadonlyMap<string, number>,
): string[] {
  for (;;) {
    let best = limit;
    let at = -1;
    for (let i = 0; i + 1 < pieces.length; i++) {
      const rank = ranks.get(pieces[i]! + pieces[i + 1]!) ?? limit;
      if (rank < best) [best, at] = [rank, i];
    }
    if (at < 0) return pieces;
    pieces.splice(at, 2, pieces[at]! + pieces[at + 1]!);
  }
}

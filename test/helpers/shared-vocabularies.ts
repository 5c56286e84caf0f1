import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { BYTE_CHARACTERS } from "../../src/text/token-bytes.ts";
import type { TokenizerFiles } from "../../src/text/tokenizer-files.ts";
import { openGguf, type GgufHeader } from "../../src/models/gguf/gguf-file.ts";
import { ggufTokenizer } from "../../src/models/gguf/gguf-tokenizer.ts";

const folder = new URL("../../../shared/data/tokenizers/", import.meta.url).pathname;

/** Whether the vocabularies and vectors, which are not part of the project, are here. */
export const hasSharedVocabularies = existsSync(join(folder, "vectors"));

/** Vocabularies in GGUF files. */
const headers = new Map<string, GgufHeader>();
if (hasSharedVocabularies) {
  for (const name of ["gpt-2", "llama-spm", "bert-bge"]) {
    const file = await openGguf(join(folder, `ggml-vocab-${name}.gguf`));
    headers.set(name, file);
    await file.close();
  }
}

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

/** As `agentrl models convert` reads it; the vectors have no BOS. */
function ofGguf(name: string): TokenizerFiles {
  const { json } = ggufTokenizer(headers.get(name)!, name);
  const config = { clean_up_tokenization_spaces: false };
  return { tokenizer: { ...json, post_processor: null }, config };
}

export const gpt2 = (): TokenizerFiles => ofGguf("gpt-2");
export const llamaSentencePiece = (): TokenizerFiles => ofGguf("llama-spm");

const bpe = {
  dropout: null,
  unk_token: null,
  continuing_subword_prefix: "",
  end_of_word_suffix: "",
  fuse_unk: false,
  byte_fallback: false,
};

/** BERT's word pieces; GGUF marks beginnings of words with ▁ where BERT marks continuations with ##. */
export function bert(): TokenizerFiles {
  const listed = headers.get("bert-bge")?.metadata.get("tokenizer.ggml.tokens") as string[];
  const tokens = listed.map((token) => {
    if (/^\[.+\]$/.test(token)) return token;
    return token.startsWith("▁") ? token.slice(1) : `##${token}`;
  });
  const cleaning = { clean_text: true, handle_chinese_chars: true, strip_accents: null };
  const parts = {
    normalizer: { type: "BertNormalizer", ...cleaning, lowercase: true },
    pre_tokenizer: { type: "BertPreTokenizer" },
    decoder: { type: "WordPiece", prefix: "##", cleanup: false },
    model: {
      type: "WordPiece",
      unk_token: "[UNK]",
      continuing_subword_prefix: "##",
      max_input_chars_per_word: 100,
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

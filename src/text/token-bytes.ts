import { byteLevelBytes } from "./byte-characters.ts";

/** How the tokens of a vocabulary spell text. */
export type Spelling =
  /** GPT-2, Llama 3, Qwen: one printable character for each byte. */
  | "byte-level"
  /** Llama 2, Mistral: ▁ for a space, `<0x0A>` for a byte that no piece has. */
  | "sentence-piece"
  /** BERT: words apart, ## before a continuation. Not reversible. */
  | "word-piece"
  /** Anything else: tokens are their own text. */
  | "plain";

/** How a tokenizer's tokens spell text, by its `decoder` and, where it has none, by how it splits. */
export function spellingOf(json: { decoder?: unknown; pre_tokenizer?: unknown }): Spelling {
  const types = new Set(partsOf(json.decoder).map(({ type }) => type));
  if (types.size === 0) {
    for (const { type } of partsOf(json.pre_tokenizer)) types.add(type);
  }
  if (types.has("ByteLevel")) return "byte-level";
  if (types.has("WordPiece")) return "word-piece";
  const pieces = ["Metaspace", "ByteFallback", "Replace"].some((type) => types.has(type));
  return pieces ? "sentence-piece" : "plain";
}

/** A part of tokenizer.json: a normalizer, pre-tokenizer, post-processor or decoder. */
export type Part = Record<string, unknown> & { type?: unknown };

/** A part, and those that it is a sequence of. */
function partsOf(part: unknown): Part[] {
  if (typeof part !== "object" || part === null) return [];
  const lists = Object.values(part).filter((value): value is unknown[] => Array.isArray(value));
  return [part as Part, ...lists.flat().flatMap(partsOf)];
}

/** The bytes that a token of the vocabulary stands for inside a text. Added tokens are their own text under every spelling. */
export function tokenBytes(token: string, spelling: Spelling): Uint8Array {
  const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);
  switch (spelling) {
    case "byte-level":
      return byteLevelBytes(token) ?? utf8(token);
    case "sentence-piece": {
      const byte = /^<0x([0-9A-Fa-f]{2})>$/.exec(token)?.[1];
      if (byte !== undefined) return Uint8Array.of(Number.parseInt(byte, 16));
      return utf8(token.replaceAll("▁", " "));
    }
    case "word-piece":
      return utf8(token.startsWith("##") ? token.slice(2) : ` ${token}`);
    case "plain":
      return utf8(token);
  }
}

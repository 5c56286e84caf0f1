/**
 * Byte-level BPE writes each byte as one printable character: bytes that are printable in Latin-1 stand for themselves, the
 * others are shifted past 255 in order (GPT-2's table).
 */
const byteOfCharacter = new Map<string, number>();
{
  const printable = (byte: number): boolean =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let shifted = 256;
  for (let byte = 0; byte < 256; byte++) {
    byteOfCharacter.set(String.fromCharCode(printable(byte) ? byte : shifted++), byte);
  }
}

/** The printable characters that stand for the bytes 0–255, in order. */
export const BYTE_CHARACTERS: readonly string[] = [...byteOfCharacter]
  .sort((a, b) => a[1] - b[1])
  .map(([c]) => c);

/** The bytes that a byte-level token stands for; null for text with a character of no byte. */
function byteLevelBytes(token: string): Uint8Array | null {
  const bytes: number[] = [];
  for (const character of token) {
    const byte = byteOfCharacter.get(character);
    if (byte === undefined) return null;
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

/** How the tokens of a vocabulary spell text. */
type Spelling =
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

/** Text that arrives as bytes, a character perhaps in several pieces. */
interface TextFlow {
  /** @returns what of the text is whole now; an unfinished character waits for the rest of its bytes. */
  push(bytes: Uint8Array): string;
  /** @returns U+FFFD for a character that was never finished. */
  end(): string;
}

/** Bytes that are no UTF-8 become U+FFFD, one for each longest beginning of a character (WHATWG); a byte-order mark stays. */
export function textFlow(): TextFlow {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return {
    push: (bytes) => decoder.decode(bytes, { stream: true }),
    end: () => decoder.decode(),
  };
}

/**
 * Byte-level BPE writes each byte as one printable character: printable Latin-1 bytes map to themselves, the
 * others to code points above 255, in order (GPT-2's table).
 */
const byteOfCharacter = new Map<string, number>();
{
  const printable = (byte: number): boolean =>
    (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let shifted = 256;
  for (let byte = 0; byte < 256; byte++)
    byteOfCharacter.set(String.fromCharCode(printable(byte) ? byte : shifted++), byte);
}

/** The printable characters of the bytes 0–255, in order. */
export const BYTE_CHARACTERS: readonly string[] = [...byteOfCharacter]
  .sort((a, b) => a[1] - b[1])
  .map(([c]) => c);

/** The bytes of a byte-level token; null for text with a character outside the table. */
function byteLevelBytes(token: string): Uint8Array | null {
  const bytes: number[] = [];
  for (const character of token) {
    const byte = byteOfCharacter.get(character);
    if (byte === undefined) return null;
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

/** How the tokens of a vocabulary encode text. */
type Spelling =
  /** GPT-2, Llama 3, Qwen: one printable character per byte. */
  | "byte-level"
  /** Llama 2, Mistral: ▁ for a space, `<0x0A>` for a byte without a piece. */
  | "sentence-piece"
  /** BERT: separate words, ## before a continuation. Not reversible. */
  | "word-piece"
  /** All others: tokens are plain text. */
  | "plain";

/** The spelling of a tokenizer, from its `decoder` or, without one, from its pre-tokenizer. */
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

function partsOf(part: unknown): Part[] {
  if (typeof part !== "object" || part === null) return [];
  const lists = Object.values(part).filter((value): value is unknown[] => Array.isArray(value));
  return [part as Part, ...lists.flat().flatMap(partsOf)];
}

/** The bytes of a vocabulary token inside a text. Added tokens are plain text under every spelling. */
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

/** Decodes UTF-8 bytes that arrive in pieces. */
interface TextFlow {
  /** @returns the decoded text; an incomplete character waits for its remaining bytes. */
  push(bytes: Uint8Array): string;
  /** @returns U+FFFD for an incomplete character. */
  end(): string;
}

/** Invalid UTF-8 becomes U+FFFD, one per maximal prefix of a character (WHATWG); a byte-order mark stays. */
export function textFlow(): TextFlow {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  return { push: (bytes) => decoder.decode(bytes, { stream: true }), end: () => decoder.decode() };
}

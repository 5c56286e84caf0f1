import { existsSync } from "node:fs";
import { join } from "node:path";
import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { DataError, errorMessage } from "../base/errors.ts";
import { readJson } from "../base/files.ts";

/** The part of the library that is used; its own declarations do not resolve under Node's module rules. */
interface Inner {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] };
  decode(
    ids: number[],
    options: { skip_special_tokens: boolean; clean_up_tokenization_spaces: boolean },
  ): string;
  id_to_token(id: number): string | undefined;
  get_vocab(withAddedTokens: boolean): Map<string, number>;
  get_added_tokens_decoder(): Map<number, unknown>;
}
const InnerTokenizer = HuggingFaceTokenizer as unknown as new (
  json: unknown,
  config: unknown,
) => Inner;

/** Text to token ids and back, for one model. */
export interface Tokenizer {
  readonly vocabSize: number;
  /** Ends a completion; null when the model has none. */
  readonly endId: number | null;
  /** Ids of a text; special tokens are recognised where they stand, none are added. */
  encode(text: string): number[];
  /** The text of ids, special tokens included. */
  decode(ids: readonly number[]): string;
  /** Bytes that one token stands for: what it adds to a text, also where it is part of a character. */
  bytes(id: number): Uint8Array;
}

/**
 * Loads a Hugging Face folder's `tokenizer.json` (and `tokenizer_config.json`, for the end token).
 * @throws {DataError} FILE_MISSING, TOKENIZER_BAD
 */
export async function loadTokenizer(folder: string): Promise<Tokenizer> {
  const path = join(folder, "tokenizer.json");
  const configPath = join(folder, "tokenizer_config.json");
  const json = await readJson(path);
  const config = existsSync(configPath) ? await readJson(configPath) : {};
  return makeTokenizer(json, config, path);
}

/** A tokenizer from the parsed files. @param where for messages. */
export function makeTokenizer(json: unknown, config: unknown, where: string): Tokenizer {
  let inner: Inner;
  try {
    inner = new InnerTokenizer(json, config);
  } catch (error) {
    throw new DataError(
      "TOKENIZER_BAD",
      `${where}: is not a tokenizer that can be read (${errorMessage(error)}).`,
      { cause: error },
    );
  }
  const vocab = inner.get_vocab(true);
  let vocabSize = 0;
  for (const id of vocab.values()) vocabSize = Math.max(vocabSize, id + 1);
  const special = new Set(inner.get_added_tokens_decoder().keys());
  const known = new Map<number, Uint8Array>();
  const end = (config as { eos_token?: string | { content: string } }).eos_token;
  const endText = typeof end === "string" ? end : end?.content;
  return {
    vocabSize,
    endId: endText === undefined ? null : (vocab.get(endText) ?? null),
    encode: (text) => inner.encode(text, { add_special_tokens: false }).ids,
    decode(ids) {
      if (ids.length === 0) return ""; // which the library refuses
      const asWritten = { skip_special_tokens: false, clean_up_tokenization_spaces: false };
      return inner.decode([...ids], asWritten);
    },
    bytes(id) {
      const cached = known.get(id);
      if (cached !== undefined) return cached;
      const token = inner.id_to_token(id) ?? "";
      const bytes = special.has(id) ? new TextEncoder().encode(token) : byteLevelBytes(token);
      known.set(id, bytes);
      return bytes;
    },
  };
}

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

function byteLevelBytes(token: string): Uint8Array {
  const bytes: number[] = [];
  for (const character of token) {
    const byte = byteOfCharacter.get(character);
    // Not byte-level (SentencePiece): ▁ is a space, anything else itself.
    if (byte === undefined) return new TextEncoder().encode(token.replaceAll("▁", " "));
    bytes.push(byte);
  }
  return Uint8Array.from(bytes);
}

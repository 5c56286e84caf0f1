import { join } from "node:path";
import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { DataError, errorMessage } from "../base/errors.ts";
import { spellingOf, textFlow, tokenBytes } from "./token-bytes.ts";
import {
  readTokenizerFiles,
  type SpecialToken,
  tokenizerFacts,
  type TokenizerFacts,
  type TokenizerFiles,
  type TokenizerJson,
} from "./tokenizer-files.ts";
import { splitAtWords, unicodeSpaces, withoutAddedSpace } from "./tokenizer-rewrites.ts";

/** The part of the library that is used; its own declarations do not resolve under Node's module rules. */
interface Inner {
  encode(text: string, options: { add_special_tokens: boolean }): { ids: number[] };
  decode(
    ids: number[],
    options: { skip_special_tokens: boolean; clean_up_tokenization_spaces: boolean },
  ): string;
  id_to_token(id: number): string | undefined;
  get_vocab(withAddedTokens: boolean): Map<string, number>;
}
const InnerTokenizer = HuggingFaceTokenizer as unknown as new (
  json: unknown,
  config: unknown,
) => Inner;

/**
 * Text to token ids and back, for one model: a word list for the tiny world as well as byte-level BPE and SentencePiece.
 *
 * A sequence is put together from pieces (prompt, completion, observation), so `encode` and `decode` are of a text *within* a
 * sequence: nothing is put before or after it, and the text of ids is that of their bytes. What a model wants at the very
 * start of a sequence is `encodeStart`'s.
 */
export interface Tokenizer {
  /** One more than the highest id. */
  readonly vocabSize: number;
  /** Begins a sequence; null when the model has no such token. */
  readonly beginId: number | null;
  /** Ends a completion, as the model's template writes it; null when the model has none. */
  readonly endId: number | null;
  /** All ids after which the model has finished: `endId` first, then those of generation_config.json. */
  readonly endIds: readonly number[];
  readonly padId: number | null;
  /** Texts of the special tokens by their Hugging Face names, as chat templates use them. */
  readonly specialTokens: Readonly<Partial<Record<SpecialToken, string>>>;
  /** Ids of a text within a sequence; special tokens are recognised where they stand, none are added. */
  encode(text: string): number[];
  /**
   * Ids of a text at the start of a sequence: with the begin token where tokenizer.json adds one (or, having no
   * post-processor, tokenizer_config.json's `add_bos_token` says so) unless the text begins with it, and with the space
   * that SentencePiece puts before a first word. No end token is added.
   */
  encodeStart(text: string): number[];
  /** The text of ids, special tokens included. Bytes that are no UTF-8 become U+FFFD; ids of no token are left out. */
  decode(ids: readonly number[]): string;
  /** Bytes that one token stands for: what it adds to a text, also where it is part of a character. */
  bytes(id: number): Uint8Array;
}

/**
 * Loads a Hugging Face folder's `tokenizer.json` and, where they are, `tokenizer_config.json`, `special_tokens_map.json` and
 * `generation_config.json`.
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON, TOKENIZER_BAD
 */
export async function loadTokenizer(folder: string): Promise<Tokenizer> {
  return tokenizerOf(await readTokenizerFiles(folder), join(folder, "tokenizer.json"));
}

/** A tokenizer from the parsed files. @param where for messages. @throws {DataError} TOKENIZER_BAD */
export function makeTokenizer(json: unknown, config: unknown, where: string): Tokenizer {
  return tokenizerOf({ tokenizer: json, config }, where);
}

function tokenizerOf(files: TokenizerFiles, where: string): Tokenizer {
  const facts = tokenizerFacts(files, where);
  const { json, specialTokens } = facts;
  const spelling = spellingOf(json);
  const prepared = (parts: TokenizerJson): TokenizerJson =>
    spelling === "sentence-piece" ? splitAtWords(parts) : unicodeSpaces(parts);
  const whole = innerTokenizer(prepared(json), facts, where);
  const spaceless = withoutAddedSpace(json);
  // Most tokenizers put no space before a text: one and the same then serves both.
  const within = spaceless === null ? whole : innerTokenizer(prepared(spaceless), facts, where);
  const vocab = whole.get_vocab(true);
  let vocabSize = 0;
  for (const id of vocab.values()) vocabSize = Math.max(vocabSize, id + 1);
  const idOf = (name: SpecialToken): number | null => vocab.get(specialTokens[name] ?? "") ?? null;
  const endId = idOf("eos_token") ?? facts.endIds[0] ?? null;
  const beginId = idOf("bos_token");
  const begin = beginIds(whole, facts, beginId);
  const added = new Map(json.added_tokens.map(({ id, content }) => [id, content]));
  const known = new Map<number, Uint8Array>();
  const bytes = (id: number): Uint8Array => {
    let found = known.get(id);
    if (found === undefined) {
      const content = added.get(id);
      found =
        content === undefined
          ? tokenBytes(whole.id_to_token(id) ?? "", spelling)
          : new TextEncoder().encode(content);
      known.set(id, found);
    }
    return found;
  };
  return {
    ...{ vocabSize, beginId, endId, padId: idOf("pad_token"), specialTokens, bytes },
    endIds: [...new Set([...(endId === null ? [] : [endId]), ...facts.endIds])],
    encode: (text) => within.encode(text, { add_special_tokens: false }).ids,
    encodeStart(text) {
      const { ids } = whole.encode(text, { add_special_tokens: false });
      return begin.every((id, i) => ids[i] === id) ? ids : [...begin, ...ids];
    },
    decode(ids) {
      // Words of word pieces are joined by rules that look at their neighbours; the library refuses no ids at all.
      if (spelling === "word-piece" && ids.length > 0) {
        const asWritten = { skip_special_tokens: false, clean_up_tokenization_spaces: false };
        return whole.decode([...ids], asWritten);
      }
      const flow = textFlow();
      return ids.map((id) => flow.push(bytes(id))).join("") + flow.end();
    },
  };
}

function innerTokenizer(json: unknown, { config }: TokenizerFacts, where: string): Inner {
  try {
    return new InnerTokenizer(json, config);
  } catch (error) {
    throw new DataError(
      "TOKENIZER_BAD",
      `${where}: is not a tokenizer that can be read (${errorMessage(error)}).`,
      { cause: error },
    );
  }
}

/** Ids that stand before the first text of a sequence. */
function beginIds(
  whole: Inner,
  { json, config }: TokenizerFacts,
  beginId: number | null,
): readonly number[] {
  if (json.post_processor === null || json.post_processor === undefined)
    return config.add_bos_token === true && beginId !== null ? [beginId] : [];
  const probe = "a";
  const bare = whole.encode(probe, { add_special_tokens: false }).ids;
  const full = whole.encode(probe, { add_special_tokens: true }).ids;
  const at = full.findIndex((_, i) => bare.every((id, j) => full[i + j] === id));
  return full.slice(0, Math.max(at, 0));
}

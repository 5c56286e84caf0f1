import { join } from "node:path";
import { Tokenizer as HuggingFaceTokenizer } from "@huggingface/tokenizers";
import { DataError, errorMessage } from "../base/errors.ts";
import { spellingOf, textFlow, tokenBytes, type Part } from "./token-bytes.ts";
import {
  readTokenizerFiles,
  tokenizerFacts,
  type SpecialToken,
  type TokenizerFacts,
  type TokenizerFiles,
  type TokenizerJson,
} from "./tokenizer-files.ts";
import { vocabularyMistake } from "./tokenizer-vocabulary.ts";
import { wordEncoder, type WordSplitting } from "./word-cache.ts";

/** The used part of the library; its own type declarations do not resolve under Node's module rules. */
interface Inner extends WordSplitting {
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
 * Text to token ids and back, for one model: byte-level BPE, SentencePiece, or the word list of the tiny world.
 *
 * A sequence is concatenated from segments (prompt, completion, observation), so `encode` and `decode` work on a text *within* a
 * sequence: they add no tokens or spaces around it. `encodeStart` adds what the model expects at the
 * start of a sequence.
 */
export interface Tokenizer {
  /** Highest id + 1. */
  readonly vocabSize: number;
  /** BOS id; null when the model has none. */
  readonly beginId: number | null;
  /** EOS id, as the model's chat template writes it; null when the model has none. */
  readonly endId: number | null;
  /** All ids that end a completion: `endId` first, then those of generation_config.json. */
  readonly endIds: readonly number[];
  readonly padId: number | null;
  /** Texts of the special tokens by their Hugging Face names, for chat templates. */
  readonly specialTokens: Readonly<Partial<Record<SpecialToken, string>>>;
  /** Ids of a text within a sequence; recognises special tokens, adds none. */
  encode(text: string): number[];
  /**
   * Ids of a text at the start of a sequence. Adds BOS if tokenizer.json does (or, without a
   * post-processor, if tokenizer_config.json sets `add_bos_token`) and the text does not start with it; adds the space
   * that SentencePiece puts before a first word. Adds no EOS.
   */
  encodeStart(text: string): number[];
  /** The text of ids, including special tokens. Invalid UTF-8 becomes U+FFFD; unknown ids are skipped. */
  decode(ids: readonly number[]): string;
  /** The bytes that a token adds to a text; may be part of a character. */
  bytes(id: number): Uint8Array;
}

/**
 * Loads the `tokenizer.json` of a Hugging Face folder and, if present, `tokenizer_config.json`, `special_tokens_map.json` and
 * `generation_config.json`.
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON, TOKENIZER_BAD
 */
export async function loadTokenizer(folder: string): Promise<Tokenizer> {
  return tokenizerOf(await readTokenizerFiles(folder), join(folder, "tokenizer.json"));
}

/** A tokenizer from parsed files. @param where for messages. @throws {DataError} TOKENIZER_BAD */
export function makeTokenizer(json: unknown, config: unknown, where: string): Tokenizer {
  return tokenizerOf({ tokenizer: json, config }, where);
}

function tokenizerOf(files: TokenizerFiles, where: string): Tokenizer {
  const facts = tokenizerFacts(files, where);
  const { json, specialTokens } = facts;
  const mistake = vocabularyMistake(json);
  if (mistake !== null) throw unreadableTokenizer(where, mistake);
  const spelling = spellingOf(json);
  const prepared = (parts: TokenizerJson): TokenizerJson =>
    spelling === "sentence-piece" ? splitAtWords(parts) : unicodeSpaces(parts);
  const whole = innerTokenizer(prepared(json), facts, where);
  const spaceless = withoutAddedSpace(json);
  // Most tokenizers add no space before a text: then one tokenizer serves both uses.
  const within = spaceless === null ? whole : innerTokenizer(prepared(spaceless), facts, where);
  const library = (text: string): number[] =>
    within.encode(text, { add_special_tokens: false }).ids;
  const encode = wordEncoder(within, prepared(spaceless ?? json)) ?? library;
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
    vocabSize,
    beginId,
    endId,
    padId: idOf("pad_token"),
    specialTokens,
    bytes,
    endIds: [...new Set([...(endId === null ? [] : [endId]), ...facts.endIds])],
    encode,
    encodeStart(text) {
      const ids = within === whole ? encode(text) : whole.encode(text, { add_special_tokens: false }).ids; // prettier-ignore
      return begin.every((id, i) => ids[i] === id) ? ids : [...begin, ...ids];
    },
    decode(ids) {
      // Word pieces are joined by rules over neighbours, so the library decodes them; it rejects an empty list.
      if (spelling === "word-piece" && ids.length > 0) {
        const asWritten = { skip_special_tokens: false, clean_up_tokenization_spaces: false };
        return whole.decode([...ids], asWritten);
      }
      // All bytes at once: a decoder called for each token takes most of the time of a rollout's reading.
      const flow = textFlow();
      return flow.push(Buffer.concat(ids.map(bytes))) + flow.end();
    },
  };
}

function innerTokenizer(json: unknown, { config }: TokenizerFacts, where: string): Inner {
  try {
    return new InnerTokenizer(json, config);
  } catch (error) {
    throw unreadableTokenizer(where, errorMessage(error), error);
  }
}

/** TOKENIZER_BAD */
function unreadableTokenizer(where: string, why: string, cause?: unknown): DataError {
  return new DataError(
    "TOKENIZER_BAD",
    `${where}: cannot be read as a tokenizer (${why.replace(/\.$/, "")}). Download or save it again.`,
    { cause },
  );
}

/** Ids before the first text of a sequence (BOS). */
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

interface Pipeline {
  normalizer?: unknown;
  pre_tokenizer?: unknown;
}

/**
 * The same tokenizer without the space that it adds before a text (Prepend, Metaspace, add_prefix_space), for text that
 * continues a sequence. Null when it adds none.
 */
function withoutAddedSpace<T extends Pipeline>(json: T): T | null {
  const found: Part[] = [];
  const drop = (part: Part): Part | null => {
    const adds =
      part.type === "Prepend" ||
      (part.type === "Metaspace" && part["prepend_scheme"] !== "never") ||
      (part.type === "ByteLevel" && part["add_prefix_space"] === true);
    if (!adds) return part;
    found.push(part);
    if (part.type === "Prepend") return null;
    const never = part.type === "Metaspace" ? { prepend_scheme: "never" } : {};
    return { ...part, ...never, add_prefix_space: false };
  };
  const normalizer = rewritten(json.normalizer, drop);
  const pre_tokenizer = rewritten(json.pre_tokenizer, drop);
  return found.length > 0 ? { ...json, normalizer, pre_tokenizer } : null;
}

/** GPT-2's split pattern, which ByteLevel's `use_regex` means. */
const GPT2_SPLIT =
  "'s|'t|'re|'ve|'m|'ll|'d| ?\\p{L}+| ?\\p{N}+| ?[^\\s\\p{L}\\p{N}]+|\\s+(?!\\S)|\\s+";

/**
 * Replaces ByteLevel's implicit GPT-2 split by an explicit Split part. @huggingface/tokenizers 0.2.0 reads \s in a Split as Unicode
 * white space, which is correct; its ByteLevel uses JavaScript's \s, which includes U+FEFF and excludes U+0085.
 */
function unicodeSpaces<T extends Pipeline>(json: T): T {
  const pre_tokenizer = rewritten(json.pre_tokenizer, (part) => {
    // The added space comes before the split.
    if (part.type !== "ByteLevel" || part["add_prefix_space"] === true) return part;
    if (part["use_regex"] === false) return part;
    const split = { type: "Split", pattern: { Regex: GPT2_SPLIT }, behavior: "Isolated" };
    const pretokenizers = [
      { ...split, invert: false },
      { ...part, use_regex: false },
    ];
    return { type: "Sequence", pretokenizers };
  });
  return { ...json, pre_tokenizer };
}

/**
 * Splits the text of a SentencePiece tokenizer before each word, if no piece crosses a word boundary (none has a ▁ after
 * another character). The ids stay the same, and words instead of whole texts are merged and cached: more than ten times faster.
 */
function splitAtWords<T extends Pipeline & { model?: unknown }>(json: T): T {
  const { type, vocab } = (json.model ?? {}) as { type?: unknown; vocab?: unknown };
  if (type !== "BPE" || typeof vocab !== "object" || vocab === null) return json;
  if (Object.keys(vocab).some((piece) => /[^▁]▁/.test(piece))) return json;
  const split = { type: "Split", pattern: { Regex: "▁*[^▁]+|▁+" }, behavior: "Isolated" };
  const own = json.pre_tokenizer ?? null;
  const pretokenizers = [...(own === null ? [] : [own]), { ...split, invert: false }];
  return { ...json, pre_tokenizer: { type: "Sequence", pretokenizers } };
}

/** Rewrites a part and, recursively, the parts of its sequences; null drops a part. */
function rewritten(part: unknown, rewrite: (part: Part) => Part | null): unknown {
  if (typeof part !== "object" || part === null) return part;
  const own = rewrite(part as Part);
  if (own === null || own !== part) return own;
  for (const key of ["normalizers", "pretokenizers"]) {
    const parts = own[key];
    if (Array.isArray(parts)) {
      const kept = parts.map((each) => rewritten(each, rewrite)).filter((each) => each !== null);
      return { ...own, [key]: kept };
    }
  }
  return own;
}

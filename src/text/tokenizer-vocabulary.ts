import { quote } from "../base/schema.ts";
import { suggest } from "../base/nearest.ts";

/** The parts of `tokenizer.json` that give tokens their ids. */
interface Vocabulary {
  added_tokens?: readonly { id: number; content: string }[];
  model?: unknown;
}

const MODELS = ["BPE", "Unigram", "WordPiece"];

/** Ids are 32-bit numbers wherever they are stored. */
const LARGEST_ID = 2 ** 31 - 1;

/**
 * The first mistake in the vocabulary of a `tokenizer.json`; null: none. The library accepts all of these, and other ids than the model's
 * are then the result: an unknown type, an id that is no whole number from 0, one id for two tokens, two ids for one, and merges of
 * tokens that the vocabulary lacks.
 */
export function vocabularyMistake({ model, added_tokens = [] }: Vocabulary): string | null {
  if (typeof model !== "object" || model === null) return `model is ${quote(model)}`;
  const parts = model as Record<string, unknown>;
  const { type, vocab } = parts;
  // Files of old versions name no type.
  if (type !== undefined && type !== null && !MODELS.includes(type as string))
    return `model.type is ${quote(type)}. ${suggest(typeof type === "string" ? type : "", MODELS)}`;
  const isUnigram = type === "Unigram" || (type === undefined && Array.isArray(vocab));
  const mistake = isUnigram ? unigramMistake(parts) : null;
  if (mistake !== null) return mistake;
  const entries = entriesOf(vocab, isUnigram);
  if (entries === null) return `model.vocab is ${quote(vocab)}`;
  const ids = new Map<string, number>();
  const tokens = new Map<number, string>();
  const added = added_tokens.map(({ content, id }) => ["added_tokens", content, id] as const);
  const own = entries.map(([token, id]) => ["model.vocab", token, id] as const);
  for (const [where, token, id] of [...own, ...added]) {
    if (typeof id !== "number" || !Number.isInteger(id) || id < 0 || id > LARGEST_ID)
      return `${where}: the id of ${quote(token)} is ${quote(id)}, not a whole number from 0 to ${LARGEST_ID}`;
    const other = tokens.get(id) ?? token;
    if (other !== token) return `${where}: ${quote(other)} and ${quote(token)} have one id, ${id}`;
    const known = ids.get(token) ?? id;
    if (known !== id) return `${where}: ${quote(token)} has two ids, ${known} and ${id}`;
    ids.set(token, id);
    tokens.set(id, token);
  }
  if (isUnigram) return misplaced(vocab as readonly [string, number][], added_tokens);
  return mergesMistake(parts, new Map(entries));
}

function entriesOf(vocab: unknown, isUnigram: boolean): (readonly [string, unknown])[] | null {
  if (typeof vocab !== "object" || vocab === null) return null;
  // Unigram numbers its pieces by their place; published vocabularies repeat some.
  if (isUnigram) return [];
  return Array.isArray(vocab) ? null : Object.entries(vocab);
}

function unigramMistake({ vocab, unk_id }: Record<string, unknown>): string | null {
  if (!Array.isArray(vocab)) return `model.vocab is ${quote(vocab)}`;
  const pieces: readonly unknown[] = vocab;
  const isPiece = (each: unknown): boolean =>
    Array.isArray(each) && typeof each[0] === "string" && Number.isFinite(each[1]);
  const wrong = pieces.findIndex((each) => !isPiece(each));
  if (wrong >= 0)
    return `model.vocab.${wrong} is ${quote(pieces[wrong])}, not a piece with its score`;
  if (unk_id === undefined || unk_id === null) return null;
  if (Number.isInteger(unk_id) && pieces[unk_id as number] !== undefined) return null;
  return `model.unk_id is ${quote(unk_id)}, which is no place in the ${pieces.length} pieces`;
}

function misplaced(
  pieces: readonly [string, number][],
  added: NonNullable<Vocabulary["added_tokens"]>,
): string | null {
  const wrong = added.find(({ id, content }) => (pieces[id]?.[0] ?? content) !== content);
  if (wrong === undefined) return null;
  return `added_tokens: ${quote(pieces[wrong.id]?.[0])} and ${quote(wrong.content)} have one id, ${wrong.id}`;
}

/** As the Rust library, which refuses them too. */
function mergesMistake(
  { merges, continuing_subword_prefix: prefix }: Record<string, unknown>,
  vocab: ReadonlyMap<string, unknown>,
): string | null {
  if (merges === undefined || merges === null) return null;
  if (!Array.isArray(merges)) return `model.merges is ${quote(merges)}`;
  const skipped = typeof prefix === "string" ? prefix.length : 0;
  for (const [i, merge] of (merges as readonly unknown[]).entries()) {
    const pair: unknown = typeof merge === "string" ? merge.split(" ") : merge;
    if (!Array.isArray(pair) || pair.length !== 2 || pair.some((each) => typeof each !== "string"))
      return `model.merges.${i} is ${quote(merge)}, not two tokens`;
    const [left, right] = pair as [string, string];
    const joined = left + (right.startsWith(String(prefix)) ? right.slice(skipped) : right);
    const missing = [left, right, joined].find((token) => !vocab.has(token));
    if (missing !== undefined)
      return `model.merges.${i} is ${quote(merge)}, but model.vocab has no ${quote(missing)}`;
  }
  return null;
}

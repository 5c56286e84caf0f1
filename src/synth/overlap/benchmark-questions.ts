import { readTasks } from "../../data/tasks.ts";
import { composed, WORD_SEPARATOR } from "../../text/fold.ts";
import { isFunctionWord, wordsOf } from "../../text/words.ts";
import { growingArray } from "./growing-array.ts";
import { postings } from "./postings.ts";
import { hashWord, shingles, wholeHash, wordHashes } from "./shingles.ts";

interface OverlapOptions {
  /** Words in a row that are compared; fewer for short questions: a third of theirs, at least 3. */
  words: number;
  /** Share of a benchmark question's rows that make an overlap. */
  share: number;
}

/** Questions that must not be trained on. */
interface BenchmarkQuestions {
  readonly count: number;
  /** Whether a question is one of them, or holds as good as all of one. */
  meets(question: string): "exact" | "near" | null;
}

/** Of the words that are no names, so many must stand in both. */
const CONTENT_SHARE = 0.8;

/** From so many rows' length on, a question is a long text, in which a name may differ as any word may. */
const LONG = 5;

const FEWEST_WORDS = 3;

/** What a word of a question is. */
const GRAMMAR = 0;
const CONTENT = 1;
const NAME = 2;

/**
 * The questions of benchmark files, to be found again in questions that were changed a little, wrapped in other text or spelt
 * otherwise. Near: all names and numbers of the benchmark question stand in the other, four fifths of its other content words do, and a
 * share of its rows of words. So a question of one pattern about another entity is none, nor one that asks something else of the same.
 * A question without capitals must have all its content words there, for any may be a name.
 *
 * Rows of 8 (Tülu 3, arXiv 2411.15124: overlap of 8-grams) and 13 words (GPT-3, arXiv 2005.14165) are published for long texts;
 * half of HotpotQA's questions are shorter than 16 words, so rows shrink with the question.
 *
 * @param files in any layout that questions are read from, streamed; about 200 bytes a question stay in memory.
 * @throws {DataError} as `readTasks`.
 */
export async function benchmarkQuestions(
  files: readonly string[],
  options: OverlapOptions,
): Promise<BenchmarkQuestions> {
  const shelf = emptyShelf();
  for (const file of files) {
    for await (const { task } of readTasks(file)) putOn(shelf, task.question);
  }
  const holders = keyed(shelf);
  return {
    count: shelf.ends.length,
    meets(question) {
      const words = wordHashes(withoutMarks(question));
      if (shelf.whole.has(wholeHash(words))) return "exact";
      const asked = { words, counts: countsOf(words), rows: new Map<number, Set<number>>() };
      const looked = new Set<number>();
      for (const word of asked.counts.keys()) {
        for (const item of holders.items(word)) {
          if (looked.has(item)) continue;
          looked.add(item);
          if (holdsQuestion(asked, questionOn(shelf, item), options)) return "near";
        }
      }
      return null;
    },
  };
}

/** All questions one after another: words as hashes, and what each is. */
interface Shelf {
  words: ReturnType<typeof growingArray>;
  kinds: ReturnType<typeof growingArray>;
  ends: ReturnType<typeof growingArray>;
  whole: Set<number>;
  /** How many questions have a word. */
  frequency: Map<number, number>;
}

interface ShelvedQuestion {
  words: number[];
  /** Of each word. */
  kinds: number[];
}

function emptyShelf(): Shelf {
  return {
    ...{ words: growingArray(), kinds: growingArray(), ends: growingArray() },
    ...{ whole: new Set(), frequency: new Map() },
  };
}

function putOn({ words, kinds, ends, whole, frequency }: Shelf, question: string): void {
  const read = readQuestion(question);
  const hash = wholeHash(read.words);
  if (whole.has(hash) || read.words.length === 0) return;
  whole.add(hash);
  read.words.forEach((word, i) => {
    words.push(word);
    kinds.push(read.kinds[i] ?? GRAMMAR);
  });
  ends.push(words.length);
  for (const word of new Set(read.words)) frequency.set(word, (frequency.get(word) ?? 0) + 1);
}

function questionOn({ words, kinds, ends }: Shelf, item: number): ShelvedQuestion {
  const from = item === 0 ? 0 : ends.at(item - 1);
  const to = ends.at(item);
  return { words: Array.from(words.slice(from, to)), kinds: Array.from(kinds.slice(from, to)) };
}

/** Each question under so many of its rarest required words that whoever holds it has one of them. */
function keyed(shelf: Shelf): ReturnType<typeof postings> {
  const holders = postings();
  for (let item = 0; item < shelf.ends.length; item++) {
    const { words, kinds } = questionOn(shelf, item);
    const required = requiredWords({ words, kinds });
    const rarest = [...new Set(required)].sort(
      (a, b) => (shelf.frequency.get(a) ?? 0) - (shelf.frequency.get(b) ?? 0) || a - b,
    );
    // Of a long text some names may differ: the share below holds for all options.
    const keys = rarest.length - Math.ceil(CONTENT_SHARE * rarest.length) + 1;
    for (const word of rarest.slice(0, keys)) holders.add(word, item);
  }
  return holders;
}

/** Names, as often as they stand; all content words where there are none. */
function requiredWords({ words, kinds }: ShelvedQuestion): number[] {
  const names = words.filter((_, i) => kinds[i] === NAME);
  return names.length > 0 ? names : words.filter((_, i) => kinds[i] === CONTENT);
}

interface Asked {
  words: number[];
  /** How often each stands. */
  counts: Map<number, number>;
  /** Rows of words by their length, made when first needed. */
  rows: Map<number, Set<number>>;
}

function holdsQuestion(
  asked: Asked,
  question: ShelvedQuestion,
  { words: longest, share }: OverlapOptions,
): boolean {
  const { words, kinds } = question;
  const isLong = words.length >= LONG * longest;
  if (foundShare(asked, requiredWords(question)) < (isLong ? CONTENT_SHARE : 1)) return false;
  const content = new Set(words.filter((_, i) => kinds[i] === CONTENT));
  if (foundShare(asked, [...content]) < CONTENT_SHARE) return false;
  const n = Math.min(longest, Math.max(FEWEST_WORDS, Math.ceil(words.length / 3)));
  let rows = asked.rows.get(n);
  if (rows === undefined) asked.rows.set(n, (rows = new Set(shingles(asked.words, n))));
  const own = shingles(words, n);
  return own.filter((row) => rows.has(row)).length >= share * own.length;
}

/** Share of some words that stand in a question as often as among them. */
function foundShare({ counts }: Asked, words: readonly number[]): number {
  if (words.length === 0) return 1;
  let found = 0;
  for (const [word, times] of countsOf(words)) found += Math.min(times, counts.get(word) ?? 0);
  return found / words.length;
}

function countsOf(words: readonly number[]): Map<number, number> {
  const counts = new Map<number, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

/** Marks that some spell and others do not: "U.S.", "Poison's", "65,000". */
function withoutMarks(text: string): string {
  return composed(text).replaceAll(/[.'’"“”]|(?<=\d),(?=\d)/g, "");
}

/** Capitals and digits make a name, where a text has small letters as well. */
function readQuestion(question: string): ShelvedQuestion {
  const read: ShelvedQuestion = { words: [], kinds: [] };
  const text = withoutMarks(question);
  const hasCase = /\p{Lu}/u.test(text) && /\p{Ll}/u.test(text);
  for (const raw of text.split(WORD_SEPARATOR)) {
    const isName = hasCase && /[\p{Lu}\p{N}]/u.test(raw);
    for (const word of wordsOf(raw)) {
      read.words.push(hashWord(word));
      const kind = isName ? NAME : CONTENT;
      read.kinds.push(isFunctionWord(word) ? GRAMMAR : kind);
    }
  }
  return read;
}

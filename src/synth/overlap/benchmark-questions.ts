import { readTasks } from "../../data/tasks.ts";
import { WORD_SEPARATOR, composed } from "../../text/fold.ts";
import { isFunctionWord, wordsOf } from "../../text/words.ts";
import { hashWord, shingles, wholeHash, wordHashes } from "./seen-texts.ts";

interface OverlapOptions {
  words: number;
  /** Share of a benchmark question's n-grams that counts as an overlap. */
  share: number;
}

interface BenchmarkQuestions {
  readonly count: number;
  /** Whether a question is one of them, or contains nearly all of one. */
  meets(question: string): "exact" | "near" | null;
}

/** Share of the words other than names that both must have. */
const CONTENT_SHARE = 0.8;

/** Number of n-grams from which a question counts as long; names in it may differ as other words may. */
const LONG = 5;

const FEWEST_WORDS = 3;

interface BenchmarkQuestion {
  words: number[];
  /** Kind of each word: a function word, a name or number, or any other. */
  kinds: ("grammar" | "name" | "content")[];
}

/**
 * Finds benchmark questions in changed, wrapped or differently spelt questions. A match contains all names and numbers, four fifths of the
 * other content words, and a share of the word n-grams; without capitals all content words, because any may be a name.
 * Published n-grams are of 8 (Tülu 3, arXiv 2411.15124) and 13 words (GPT-3, arXiv 2005.14165); half of HotpotQA's questions have fewer
 * than 16 words, so n-grams shrink with the question.
 * @param files in any layout of questions, streamed; about 1 kB a question stays in memory. @throws {DataError} as `readTasks`.
 */
export async function benchmarkQuestions(
  files: readonly string[],
  options: OverlapOptions,
): Promise<BenchmarkQuestions> {
  const questions: BenchmarkQuestion[] = [];
  const whole = new Set<number>();
  for (const file of files) {
    for await (const { task } of readTasks(file)) {
      const question = readQuestion(task.question);
      const hash = wholeHash(question.words);
      if (whole.has(hash) || question.words.length === 0) continue;
      whole.add(hash);
      questions.push(question);
    }
  }
  const holders = byRareWords(questions);
  return {
    count: questions.length,
    meets(question) {
      const words = wordHashes(withoutMarks(question));
      if (whole.has(wholeHash(words))) return "exact";
      const asked = { words, counts: countsOf(words), rows: new Map<number, Set<number>>() };
      const held = new Set([...asked.counts.keys()].flatMap((word) => holders.get(word) ?? []));
      return [...held].some((each) => holdsQuestion(asked, each, options)) ? "near" : null;
    },
  };
}

function byRareWords(questions: readonly BenchmarkQuestion[]): Map<number, BenchmarkQuestion[]> {
  const frequency = countsOf(questions.flatMap(({ words }) => [...new Set(words)]));
  const holders = new Map<number, BenchmarkQuestion[]>();
  for (const question of questions) {
    const rarest = [...new Set(requiredWords(question))].sort(
      (a, b) => (frequency.get(a) ?? 0) - (frequency.get(b) ?? 0) || a - b,
    );
    // A long question may miss some names: the share below is required for every length.
    const keys = rarest.length - Math.ceil(CONTENT_SHARE * rarest.length) + 1;
    for (const word of rarest.slice(0, keys)) {
      const held = holders.get(word);
      if (held === undefined) holders.set(word, [question]);
      else held.push(question);
    }
  }
  return holders;
}

function requiredWords({ words, kinds }: BenchmarkQuestion): number[] {
  const names = words.filter((_, i) => kinds[i] === "name");
  return names.length > 0 ? names : words.filter((_, i) => kinds[i] === "content");
}

type Asked = { words: number[]; counts: Map<number, number>; rows: Map<number, Set<number>> };

function holdsQuestion(
  asked: Asked,
  question: BenchmarkQuestion,
  { words: longest, share }: OverlapOptions,
): boolean {
  const { words, kinds } = question;
  const isLong = words.length >= LONG * longest;
  if (foundShare(asked, requiredWords(question)) < (isLong ? CONTENT_SHARE : 1)) return false;
  const content = new Set(words.filter((_, i) => kinds[i] === "content"));
  if (foundShare(asked, [...content]) < CONTENT_SHARE) return false;
  const n = Math.min(longest, Math.max(FEWEST_WORDS, Math.ceil(words.length / 3)));
  let rows = asked.rows.get(n);
  if (rows === undefined) asked.rows.set(n, (rows = new Set(shingles(asked.words, n))));
  const own = shingles(words, n);
  return own.filter((row) => rows.has(row)).length >= share * own.length;
}

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

function withoutMarks(text: string): string {
  return composed(text).replaceAll(/[.'’"“”]|(?<=\d),(?=\d)/g, "");
}

/** A word with capitals or digits is a name, if the text also has small letters. */
function readQuestion(question: string): BenchmarkQuestion {
  const read: BenchmarkQuestion = { words: [], kinds: [] };
  const text = withoutMarks(question);
  const hasCase = /\p{Lu}/u.test(text) && /\p{Ll}/u.test(text);
  for (const raw of text.split(WORD_SEPARATOR)) {
    const isName = hasCase && /[\p{Lu}\p{N}]/u.test(raw);
    for (const word of wordsOf(raw)) {
      read.words.push(hashWord(word));
      read.kinds.push(isFunctionWord(word) ? "grammar" : isName ? "name" : "content");
    }
  }
  return read;
}

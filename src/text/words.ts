import { normalizeAnswer } from "./answer-normalizations.ts";
import { cjk } from "./cjk.ts";

/** Texts as words, for finding one text, or parts of it, in another: without case, accents, punctuation and articles. */

const ARTICLES = new Set(["a", "an", "the"]);

/** Words that say little by themselves: of grammar, and those that questions begin with. */
const FUNCTION_WORDS = new Set(
  (
    "a about after again all also am among an and any are as at be because been before being between both but by can could did do " +
    "does doing during each either every for from had has have having he her here him his how i if in into is it its itself let many " +
    "may me might more most much must my no nor not of off on one only or other our out over own s same shall she should so some " +
    "such t than that the their them then there these they this those through to too under until up us very was we were what when " +
    "where which while who whom whose why will with within without would yes you your"
  ).split(" "),
);

/**
 * Words of a text: lower-case, accents and articles dropped; of Chinese, Japanese and Korean every two characters that stand together.
 * @example wordsOf("The Café-Bar of São Paulo") // ["cafe", "bar", "of", "sao", "paulo"]
 */
export function wordsOf(text: string): string[] {
  return cjk.analyze(text).filter((word) => !ARTICLES.has(word));
}

/** Whether a word says little by itself. @param word as `wordsOf` gives it. */
export function isFunctionWord(word: string): boolean {
  return FUNCTION_WORDS.has(word);
}

/**
 * Looks for answers in a text, as whole words in their order. Punctuation either parts words or is nothing ("U.S." is found in "the US
 * Navy", "1,000" in "1000 men", "Norway" in "Norway's capital").
 *
 * @returns whether an answer stands in the text; one without letters and digits never does.
 * @example mentionsIn("Oslo, Norway's capital")("norway") // true
 * @example mentionsIn("nothing")("no")                    // false
 */
export function mentionsIn(text: string): (answer: string) => boolean {
  const apart = ` ${wordsOf(text).join(" ")} `;
  let joined: string | null = null;
  return (answer) => {
    const words = wordsOf(answer);
    if (words.length === 0) return false;
    if (apart.includes(` ${words.join(" ")} `)) return true;
    joined ??= ` ${wordsOf(normalizeAnswer(text)).join(" ")} `;
    return joined.includes(` ${wordsOf(normalizeAnswer(answer)).join(" ")} `);
  };
}

/**
 * Share of queries that repeat an earlier one, after squad normalisation.
 *
 * @param isRepeated whether a query counts as a repetition of any of those before it; by default one that has the same words in the
 *   same order.
 * @returns null where nothing was searched for.
 * @example repeatedQueryShare(["the seat", "seat", "Oslo"]) // 1/3
 */
export function repeatedQueryShare(
  queries: readonly string[],
  isRepeated: (query: string, earlier: readonly string[]) => boolean = (query, earlier) =>
    earlier.includes(query),
): number | null {
  if (queries.length === 0) return null;
  const normal = queries.map((query) => normalizeAnswer(query));
  const repeated = normal.filter((query, i) => isRepeated(query, normal.slice(0, i)));
  return repeated.length / queries.length;
}

import { normalizeAnswer } from "./answer-normalizations.ts";
import { cjk } from "./cjk.ts";

/** Words of a text without case, accents, punctuation and articles, to find one text, or parts of it, in another. */

const ARTICLES = new Set(["a", "an", "the"]);

/** Words with little meaning of their own: grammar words and question words. */
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
 * Words of a text: lower-case, without accents and articles; for Chinese, Japanese and Korean, every two neighbouring characters.
 * @example wordsOf("The Café-Bar of São Paulo") // ["cafe", "bar", "of", "sao", "paulo"]
 */
export function wordsOf(text: string): string[] {
  return cjk.analyze(text).filter((word) => !ARTICLES.has(word));
}

/** Whether a word has little meaning of its own. @param word from `wordsOf`. */
export function isFunctionWord(word: string): boolean {
  return FUNCTION_WORDS.has(word);
}

/**
 * Searches a text for answers, as whole words in order. Punctuation counts as a separator or as nothing ("U.S." matches "the US
 * Navy", "1,000" matches "1000 men", "Norway" matches "Norway's capital").
 *
 * @returns whether the text contains an answer; false for an answer without letters and digits.
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
    joined ??= ` ${comparedWords(text).join(" ")} `;
    return joined.includes(` ${comparedWords(answer).join(" ")} `);
  };
}

/** A text's words without the signs in them, as answers are compared. @example comparedWords("2.15 St. Louis-Cups") // ["215", "st", "louiscups"] */
export function comparedWords(text: string): string[] {
  return wordsOf(normalizeAnswer(text));
}

/**
 * Share of queries that repeat an earlier one, after squad normalisation.
 *
 * @param isRepeated whether a query repeats any of the earlier ones; the default compares the words and their
 *   order.
 * @returns null when there are no queries.
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

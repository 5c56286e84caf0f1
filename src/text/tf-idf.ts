import { normalizeAnswer } from "./answer-normalizations.ts";

/**
 * Cosine similarity of a text with each of some others, by TF-IDF over these texts alone: weight tf · (ln((1 + n) / (1 + df)) + 1), length 1.
 * Words have two characters or more, after the squad normalisation.
 *
 * @returns [others], each from 0 to 1; 0 for a text without a word.
 *
 * Source: scikit-learn's `TfidfVectorizer` with its defaults, as StepSearch (arXiv 2505.15107) fits it on a document and the gold documents.
 *
 * @example tfIdfCosines("rain snow", ["snow wind"]) // "snow" weighs 1, the others ln(3 / 2) + 1 = 1.4055: 1 / (1 + 1.4055²) = .3361
 */
export function tfIdfCosines(text: string, others: readonly string[]): number[] {
  const [own = new Map<string, number>(), ...counts] = [text, ...others].map(wordCounts);
  const texts = [own, ...counts];
  const idf = (word: string): number => {
    const containing = texts.filter((each) => each.has(word)).length;
    return Math.log((1 + texts.length) / (1 + containing)) + 1;
  };
  const [weights = new Map<string, number>(), ...weighted] = texts.map((each) =>
    unit(new Map([...each].map(([word, count]) => [word, count * idf(word)]))),
  );
  return weighted.map((other) =>
    [...weights].reduce((sum, [word, weight]) => sum + weight * (other.get(word) ?? 0), 0),
  );
}

function wordCounts(text: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of normalizeAnswer(text).match(/[\p{L}\p{N}_]{2,}/gu) ?? [])
    counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function unit(vector: ReadonlyMap<string, number>): Map<string, number> {
  const length = Math.hypot(...vector.values());
  return new Map([...vector].map(([word, weight]) => [word, weight / length]));
}

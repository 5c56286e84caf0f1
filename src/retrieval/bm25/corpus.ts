import { formatCount } from "../../base/format.ts";
import { DataError } from "../../base/errors.ts";

/** CORPUS_EMPTY. @param source the corpus: its path. */
export function emptyCorpus(source: string): DataError {
  return new DataError(
    "CORPUS_EMPTY",
    `${source}: contains no passages; an index needs at least one. Check that the path is right and the file is not truncated.`,
  );
}

/** CORPUS_DUPLICATE_ID. @param positions of the two passages, from 0. */
export function duplicateId(
  source: string,
  id: string,
  [first, second]: readonly [number, number],
): DataError {
  return new DataError(
    "CORPUS_DUPLICATE_ID",
    `${source}: passages ${first + 1} and ${second + 1} have the same id "${id}"; ids must be unique. Remove or rename one.`,
  );
}

/** Sum and largest of the passages' lengths in terms. */
export function lengthsOf(lengths: Uint32Array): { total: number; longest: number } {
  let total = 0;
  let longest = 0;
  for (const length of lengths) {
    total += length;
    if (length > longest) longest = length;
  }
  return { total, longest };
}

/** Mean number of terms per passage; 1 when all passages are empty, to avoid a division by 0. */
export function meanLength(total: number, count: number): number {
  return total === 0 ? 1 : total / count;
}

/** CORPUS_WITHOUT_TERMS: nothing could ever be found. */
export function noTerms(source: string, passages: number, analyzer: string): DataError {
  return new DataError(
    "CORPUS_WITHOUT_TERMS",
    `${source}: the analyzer "${analyzer}" finds no term in any of ${formatCount(passages)} passages: their texts are empty, or consist of stop words and signs. Look at the texts, or take another analyzer (plain keeps every word).`,
  );
}

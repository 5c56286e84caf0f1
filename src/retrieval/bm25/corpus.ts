import { DataError } from "../../base/errors.ts";

/** What is wrong with a corpus without passages. @param source the corpus: its path. */
export function emptyCorpus(source: string): DataError {
  return new DataError(
    "CORPUS_EMPTY",
    `${source}: holds no passages; an index needs at least one. Check that the path is right and the file is not cut.`,
  );
}

/** What is wrong with a corpus that has an id twice. @param positions of the two passages, from 0. */
export function duplicateId(
  source: string,
  id: string,
  [first, second]: readonly [number, number],
): DataError {
  return new DataError(
    "CORPUS_DUPLICATE_ID",
    `${source}: passages ${first + 1} and ${second + 1} share the id "${id}"; every passage needs its own. Drop or rename one.`,
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

/** Terms per passage; 1 where no passage has any, so that it can be divided by. */
export function meanLength(total: number, count: number): number {
  return total === 0 ? 1 : total / count;
}

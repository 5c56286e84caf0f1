/**
 * The known name with the smallest edit distance, at most a third of the longer name; else null. Case, `_` and `-` do not count.
 * @example nearestName("exact_match", ["exact-match", "token-f1"]) // "exact-match"
 */
export function nearestName(name: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let bestDistance = Infinity;
  for (const candidate of known) {
    const distance = editDistance(fold(name), fold(candidate));
    if (distance < bestDistance && distance <= Math.max(name.length, candidate.length) / 3) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** Of more names an error message lists only the nearest ones. */
const MOST_LISTED = 100;
const NEAREST_LISTED = 12;

/** "Did you mean …? Known: …." for an error message. */
export function suggest(name: string, known: readonly string[]): string {
  if (known.length === 0) return "There are none.";
  const nearest = nearestName(name, known);
  const hint = nearest === null ? "" : `Did you mean "${nearest}"? `;
  if (known.length <= MOST_LISTED) return `${hint}Known: ${known.join(", ")}.`;
  const distances = new Map(known.map((each) => [each, editDistance(fold(name), fold(each))]));
  const listed = [...distances].sort(([, a], [, b]) => a - b).slice(0, NEAREST_LISTED);
  return `${hint}The nearest of ${known.length} known: ${listed.map(([each]) => each).join(", ")}.`;
}

function fold(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}

/** Insertions, deletions, substitutions and swaps of neighbours (optimal string alignment). */
function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const substitution = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swap = swapped ? (beforePrevious[j - 2] ?? 0) + 1 : Infinity;
      row.push(Math.min(substitution, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1, swap));
    }
    [beforePrevious, previous] = [previous, row];
  }
  return previous[b.length] ?? 0;
}

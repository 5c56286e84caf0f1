/** Tokens by which rows must begin alike, beyond what all of a run share, to stand together in spite of unlike lengths. */
const LEAST = 16;

/**
 * An order of rows in which those that begin alike are neighbours, branch by branch; of branches, and of rows that share little more, the
 * longest come first.
 */
export function sharedOrder(rows: readonly (readonly number[])[]): number[] {
  const sorted = rows.map((_, i) => i).sort((a, b) => compared(rows[a]!, rows[b]!) || a - b);
  return arranged(sorted);

  function arranged(run: readonly number[]): number[] {
    if (run.length <= 1) return [...run];
    const depth = common(rows[run[0]!]!, rows[run.at(-1)!]!);
    const branches: number[][] = [[run[0]!]];
    for (let i = 1; i < run.length; i++) {
      const isAlike = common(rows[run[i - 1]!]!, rows[run[i]!]!) > depth + LEAST;
      if (isAlike) branches.at(-1)!.push(run[i]!);
      else branches.push([run[i]!]);
    }
    const longest = (branch: readonly number[]): number =>
      Math.max(...branch.map((row) => rows[row]!.length));
    return branches
      .map((branch) => ({ length: longest(branch), order: arranged(branch) }))
      .sort((a, b) => b.length - a.length)
      .flatMap(({ order }) => order);
  }
}

/** Number of tokens at the start that two rows share. */
export function common(a: readonly number[], b: readonly number[]): number {
  const most = Math.min(a.length, b.length);
  for (let i = 0; i < most; i++) if (a[i] !== b[i]) return i;
  return most;
}

/** The order of the first tokens that differ; a row comes before those that it begins. */
function compared(a: readonly number[], b: readonly number[]): number {
  const at = common(a, b);
  return (a[at] ?? -1) - (b[at] ?? -1);
}

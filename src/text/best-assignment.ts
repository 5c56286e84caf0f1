/**
 * The one-to-one assignment of rows to columns with the greatest sum, by the Hungarian method with potentials (Kuhn 1955,
 * Munkres 1957); O(rows² · columns).
 *
 * @param gain [rows][columns], at least one of each.
 * @returns for each row its column, or -1 where there are more rows than columns and it got none.
 * @example bestAssignment([[1, 2], [3, 5]]) // [0, 1]: 1 + 5 beats 2 + 3
 */
export function bestAssignment(gain: readonly (readonly number[])[]): number[] {
  const rows = gain.length;
  const columns = gain[0]?.length ?? 0;
  if (rows > columns) {
    const byColumn = bestAssignment(
      Array.from({ length: columns }, (_, column) => gain.map((row) => row[column] ?? 0)),
    );
    return Array.from({ length: rows }, (_, row) => byColumn.indexOf(row));
  }
  const state: Potentials = {
    ...{ rowPotential: zeros(rows + 1), columnPotential: zeros(columns + 1) },
    rowOf: zeros(columns + 1),
  };
  for (let row = 1; row <= rows; row++) augment(gain, row, state);
  const found = Array<number>(rows).fill(-1);
  state.rowOf.forEach((row, column) => {
    if (row > 0 && column > 0) found[row - 1] = column - 1;
  });
  return found;
}

/** Rows and columns count from 1; 0 is "none". */
interface Potentials {
  rowPotential: number[];
  columnPotential: number[];
  /** Row assigned to each column. */
  rowOf: number[];
}

/** Assigns one more row along the shortest augmenting path (Dijkstra over reduced costs, cost = −gain). */
function augment(
  gain: readonly (readonly number[])[],
  row: number,
  { rowPotential, columnPotential, rowOf }: Potentials,
): void {
  const columns = rowOf.length - 1;
  const slack = Array<number>(columns + 1).fill(Infinity);
  const before = zeros(columns + 1);
  const reached = Array<boolean>(columns + 1).fill(false);
  rowOf[0] = row;
  let at = 0;
  do {
    reached[at] = true;
    const from = rowOf[at] ?? 0;
    let least = Infinity;
    let next = 0;
    for (let column = 1; column <= columns; column++) {
      if (reached[column] === true) continue;
      const cost = -(gain[from - 1]?.[column - 1] ?? 0);
      const reduced = cost - (rowPotential[from] ?? 0) - (columnPotential[column] ?? 0);
      if (reduced < (slack[column] ?? Infinity)) {
        slack[column] = reduced;
        before[column] = at;
      }
      if ((slack[column] ?? Infinity) < least) {
        least = slack[column] ?? Infinity;
        next = column;
      }
    }
    for (let column = 0; column <= columns; column++) {
      if (reached[column] === true) {
        const assigned = rowOf[column] ?? 0;
        rowPotential[assigned] = (rowPotential[assigned] ?? 0) + least;
        columnPotential[column] = (columnPotential[column] ?? 0) - least;
      } else {
        slack[column] = (slack[column] ?? Infinity) - least;
      }
    }
    at = next;
  } while (rowOf[at] !== 0);
  while (at !== 0) {
    const previous = before[at] ?? 0;
    rowOf[at] = rowOf[previous] ?? 0;
    at = previous;
  }
}

function zeros(length: number): number[] {
  return Array<number>(length).fill(0);
}

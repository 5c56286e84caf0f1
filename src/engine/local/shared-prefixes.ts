import type { TrainingRow } from "../engine.ts";

/** Rows that begin with the same tokens. */
export interface PrefixGroup {
  /** Indices of the rows. */
  rows: number[];
  /** Number of the tokens that they share, a multiple of 16; 0: none, or too few to be worth a graph of their own. */
  prefix: number;
}

/** Lengths of prefixes are multiples of this: what it leaves of a prompt is computed once for each row. */
const STEP = 16;
/** Shorter prefixes are not shared: they save less than their further shapes cost. */
const LEAST = 128;

/** Groups, and the tokens that are computed for them. */
interface Division {
  groups: PrefixGroup[];
  cost: number;
}

/**
 * Divides rows into groups with a common prefix, which are trained with the prefix computed once, such that the fewest tokens are
 * computed: the rollouts of one prompt are a group, and where some of them share more, they may be one of their own.
 *
 * @param fitting number of rows that fit into one micro-batch, given their prefix and the longest rest of a row.
 */
export function prefixGroups(
  rows: readonly TrainingRow[],
  fitting: (prefix: number, rest: number) => number,
): PrefixGroup[] {
  const ids = (row: number): readonly number[] => rows[row]!.inputs;
  const order = rows.map((_, i) => i).sort((a, b) => compared(ids(a), ids(b)) || a - b);
  return order.length === 0 ? [] : divided(order).groups;

  /** The run as one group, or cut into groups that share more and the rows between them, whichever computes fewer tokens. */
  function divided(run: readonly number[]): Division {
    const together = whole(run);
    const parts = cut(run);
    const deeper = parts.filter((part) => part.length > 1);
    if (parts.length === 1 || deeper.length === 0) return together;
    const singles = parts.filter((part) => part.length === 1).flat();
    const apart = deeper.map(divided);
    if (singles.length > 0) apart.push(whole(singles));
    const cost = apart.reduce((sum, each) => sum + each.cost, 0);
    if (cost >= together.cost) return together;
    return { groups: apart.flatMap(({ groups }) => groups), cost };
  }

  function whole(run: readonly number[]): Division {
    const lengths = run.map((row) => ids(row).length);
    const total = lengths.reduce((sum, length) => sum + length, 0);
    const found = run.length === 1 ? 0 : alike(run);
    const most = found === 0 ? 1 : fitting(found, Math.max(...lengths) - found);
    const prefix = most > 1 ? found : 0;
    const saved = prefix * (run.length - Math.ceil(run.length / most));
    return { groups: [{ rows: [...run], prefix }], cost: total - saved };
  }

  /** What all rows of a sorted run share, which is what the first and the last share; every row keeps a token of its own. */
  function alike(run: readonly number[]): number {
    const shortest = Math.min(...run.map((row) => ids(row).length));
    return stepped(Math.min(common(ids(run[0]!), ids(run.at(-1)!)), shortest - 1));
  }

  /** Cuts a sorted run where neighbours share no more than all rows do. */
  function cut(run: readonly number[]): number[][] {
    const least = alike(run);
    const parts: number[][] = [[run[0]!]];
    for (let i = 1; i < run.length; i++) {
      const shared = stepped(common(ids(run[i - 1]!), ids(run[i]!)));
      if (shared > least) parts.at(-1)!.push(run[i]!);
      else parts.push([run[i]!]);
    }
    return parts;
  }
}

function stepped(tokens: number): number {
  const steps = STEP * Math.floor(tokens / STEP);
  return steps < LEAST ? 0 : steps;
}

/** Number of tokens at the start that two rows share. */
function common(a: readonly number[], b: readonly number[]): number {
  const most = Math.min(a.length, b.length);
  for (let i = 0; i < most; i++) if (a[i] !== b[i]) return i;
  return most;
}

/** The order of the first tokens that differ; a prefix comes before what it is a prefix of. */
function compared(a: readonly number[], b: readonly number[]): number {
  const at = common(a, b);
  return (a[at] ?? -1) - (b[at] ?? -1);
}

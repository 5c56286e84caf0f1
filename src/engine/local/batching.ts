import { type TrainingRow, isScored } from "../engine.ts";

/** Rows of one run, padded to one length. */
export interface MicroBatch {
  rows: number[];
  batch: number;
  length: number;
  scored: number;
  prefix?: number;
}

/** Possible shares of scored positions: few, because each compiled shape needs memory. */
const SCORED_SHARES = [1 / 8, 1 / 4, 1 / 2, 1] as const;

/**
 * Packs rows into shapes of at most `maxTokens` positions. Rows of one prompt share it (`prefixGroups`); others are sorted by length
 * and packed, for little padding and few shapes. Deterministic: equal lengths keep their order.
 * @param workers that get the micro-batches in turn: the sizes balance their load.
 */
export function microBatches(
  rows: readonly TrainingRow[],
  maxTokens: number,
  workers = 1,
): MicroBatch[] {
  const together = (prefix: number, rest: number): number =>
    Math.max(1, Math.floor((maxTokens - prefix) / paddedRest(rest)));
  const groups = prefixGroups(rows, together).filter(
    ({ rows: members, prefix }) => prefix > 0 && members.length > 1,
  );
  // One that is cut in two keeps every worker busy.
  const pieces = groups.length % workers === 0 || groups.length >= 4 * workers ? 1 : workers;
  const shared = groups.flatMap((group) => sharedBatches(rows, group, { together, pieces }));
  const taken = new Set(shared.flatMap((batch) => batch.rows));
  const others = rows.map((_, i) => i).filter((row) => !taken.has(row));
  return [...shared, ...ordinaryBatches(rows, others, maxTokens, workers)];
}

/** Micro-batches of rows with a common prefix; none where so many of its tokens are scored that they would need more places. */
function sharedBatches(
  rows: readonly TrainingRow[],
  { rows: members, prefix }: PrefixGroup,
  options: { together: (prefix: number, rest: number) => number; pieces: number },
): MicroBatch[] {
  const rest = (row: number): number => rows[row]!.inputs.length - prefix;
  const order = members.toSorted((a, b) => rest(b) - rest(a) || a - b);
  const most = options.together(prefix, rest(order[0]!));
  const count = Math.max(options.pieces, Math.ceil(order.length / most));
  const size = Math.ceil(order.length / count);
  const batches: MicroBatch[] = [];
  for (let at = 0; at < order.length; at += size) {
    const own = order.slice(at, at + size);
    const batch = lastSize(size, own.length);
    const length = paddedRest(rest(own[0]!));
    const scored = scoredPlaces(rows, own, prefix + batch * length);
    if (scored === null) return [];
    batches.push({ rows: own, batch, length, scored, prefix });
  }
  return batches;
}

/** Padded number of scored positions; null when there are more of them than `positions`. */
function scoredPlaces(
  rows: readonly TrainingRow[],
  members: readonly number[],
  positions: number,
): number | null {
  const scored = members.reduce((sum, row) => sum + scoredCount(rows[row]!), 0);
  const share = SCORED_SHARES.find((each) => scored <= each * positions);
  return share === undefined ? null : Math.ceil(share * positions);
}

function ordinaryBatches(
  rows: readonly TrainingRow[],
  among: readonly number[],
  maxTokens: number,
  workers: number,
): MicroBatch[] {
  const lengthOf = (row: number): number => padded(rows[row]!.inputs.length);
  const order = among.toSorted((a, b) => rows[b]!.inputs.length - rows[a]!.inputs.length || a - b);
  const batches: MicroBatch[] = [];
  let at = 0;
  let length = 0;
  let batch = 0;
  while (at < order.length) {
    const longest = lengthOf(order[at]!);
    if (longest !== length) {
      length = longest;
      const alike = order.filter((row) => lengthOf(row) === length).length;
      batch = batchSize(alike, Math.max(1, Math.floor(maxTokens / length)), workers);
    }
    const members = order.slice(at, at + batch);
    at += members.length;
    const size = lastSize(batch, members.length);
    const scored = scoredPlaces(rows, members, size * length)!;
    batches.push({ rows: members, batch: size, length, scored });
  }
  return batches;
}

function lastSize(size: number, left: number): number {
  const half = Math.ceil(size / 2);
  return size > 1 && left <= half ? lastSize(half, left) : size;
}

/** The largest shape for rows of this many tokens with this share of scored tokens. */
export function microBatchShape(
  rowTokens: number,
  maxTokens: number,
  scoredShare: number,
): Omit<MicroBatch, "rows"> {
  const length = padded(rowTokens);
  const batch = Math.max(1, Math.floor(maxTokens / length));
  const share = SCORED_SHARES.find((each) => scoredShare <= each) ?? 1;
  return { batch, length, scored: Math.ceil(share * batch * length) };
}

/** The largest size, or two thirds or half of it: the smallest load of the busiest worker. 32 rows on two workers, at most 6: 4 give 4 × 4. */
function batchSize(count: number, most: number, workers: number): number {
  if (count < most) return most;
  const busiest = (size: number): number => Math.ceil(Math.ceil(count / size) / workers) * size;
  const sizes = [most, Math.ceil((2 * most) / 3), Math.ceil(most / 2)];
  return sizes.reduce((best, size) => (busiest(size) < busiest(best) ? size : best));
}

/** Maximum number of padded lengths for sequences of up to this many tokens. */
export function lengthsUpTo(tokens: number): number {
  let count = 0;
  for (let length = 1; length <= tokens; length = padded(length) + 1) count += 1;
  return count;
}

/** Rounds up to a padded length; longer sequences use coarser steps. */
function padded(length: number): number {
  const step = length <= 512 ? 32 : length <= 1024 ? 64 : 128;
  return roundUp(length, step);
}

function paddedRest(length: number): number {
  return length <= 64 ? roundUp(length, 16) : padded(length);
}

function scoredCount(row: TrainingRow): number {
  return row.targets.reduce((count, _, target) => count + Number(isScored(row, target)), 0);
}

function roundUp(n: number, step: number): number {
  return Math.ceil(n / step) * step;
}

interface PrefixGroup {
  rows: number[];
  /** Number of the tokens that they share, a multiple of 16; 0: none, or too few to be worth a graph of their own. */
  prefix: number;
}

/** Lengths of prefixes are multiples of this: what it leaves of a prompt is computed once for each row. */
const STEP = 16;
/** Shorter prefixes are not shared: they save less than their further shapes cost. */
const LEAST = 128;

type Division = { groups: PrefixGroup[]; cost: number };

/**
 * Divides rows into groups that compute a common prefix once, for the fewest tokens. @param fitting rows that fit, by prefix and longest rest.
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

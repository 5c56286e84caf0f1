// Turns in rounds: what else runs on the machine falls on all contenders alike, and a ratio is of neighbours in time.
import { short } from "../retrieval/rows.mjs";

/** Share of all cores that other programs may have in a round: PyTorch's threads wait for each other and suffer most. */
const QUIET = 0.05;

/**
 * Rounds of one turn for each contender, ours in turn first and last. A round that other programs disturbed is run again, at most
 * as often as there are rounds; the least disturbed count.
 *
 * @param contenders {name: turn}, ours first, where a turn resolves to {seconds, processorSeconds, busyElsewhere}.
 * @returns {name: one entry per round}.
 */
export async function inRounds(contenders, rounds) {
  const names = Object.keys(contenders);
  const found = [];
  const quiet = () => found.filter((round) => disturbance(round) <= QUIET).length;
  while (quiet() < rounds && found.length < 2 * rounds) {
    const round = {};
    const order = found.length % 2 === 0 ? names : names.toReversed();
    for (const name of order) round[name] = await contenders[name]();
    found.push(round);
  }
  const best = found.toSorted((a, b) => disturbance(a) - disturbance(b)).slice(0, rounds);
  return Object.fromEntries(names.map((name) => [name, best.map((round) => round[name])]));
}

function disturbance(round) {
  return Math.max(...Object.values(round).map(({ busyElsewhere }) => busyElsewhere));
}

/**
 * Ours against the fastest of the others (by their medians).
 * @param found what `inRounds` gave, ours first.
 */
export function compared(found, least) {
  const [ours, ...others] = Object.keys(found);
  const contenders = Object.fromEntries(
    Object.entries(found).map(([name, entries]) => [name, summary(entries)]),
  );
  const [best] = others.toSorted((a, b) => contenders[a].seconds - contenders[b].seconds);
  const ratio = ratioOf(found[ours], found[best], "seconds");
  return {
    ...{
      contenders,
      best,
      ratio: least === undefined ? ratio : { ...ratio, bar: least, passed: ratio.median >= least },
    },
    processorRatio: ratioOf(found[ours], found[best], "processorSeconds"),
  };
}

/** Their time over ours, round by round: the median, the least and the most. */
function ratioOf(ours, theirs, what) {
  const ratios = ours.map((each, round) => theirs[round][what] / each[what]);
  return { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) };
}

/** A ratio for people. */
export function spread({ median: middle, least, most }) {
  return `${short(middle)} × (${short(least)} to ${short(most)})`;
}

export function verdict(ratio, best) {
  const asked =
    ratio.bar === undefined ? "" : ` (bar ${ratio.bar}) ${ratio.passed ? "ok" : "MISSED"}`;
  return `${spread(ratio)} against ${best}${asked}`;
}

/** Medians of a contender's rounds; and the largest share of all cores that other programs had meanwhile. */
function summary(entries) {
  const of = (name) => median(entries.map((each) => each[name]));
  return {
    seconds: of("seconds"),
    processorSeconds: of("processorSeconds"),
    mostBusyElsewhere: Math.max(...entries.map(({ busyElsewhere }) => busyElsewhere)),
  };
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

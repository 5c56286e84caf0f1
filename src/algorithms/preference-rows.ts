import { DataError } from "../base/errors.ts";
import type { PairSide } from "../losses/preference/preference-loss.ts";
import type { PreferencePair } from "../trajectory/sample.ts";
import type { TokenRow, Trajectory } from "../trajectory/trajectory.ts";

/** A sequence of a pair, in five bytes a token: pairs stay in memory for all epochs. */
export interface ComparedRow {
  ids: Int32Array;
  /** 1 where a token is compared; the first never is. */
  compared: Uint8Array;
}

/** One side's sequences; several where its prompts were built anew. */
export interface SideRows {
  rows: ComparedRow[];
  /** Compared tokens, at least 1. */
  tokens: number;
}

/** A pair as it is trained on. */
export type PairRows = Readonly<Record<PairSide, SideRows>>;

/** A pair that cannot be trained on, with why: a side on which the policy wrote nothing, or that the model has no room for. */
export type UnusablePair = "nothing-compared" | "too-long";

/**
 * The sequences of a pair. Compared are the tokens that the policy wrote in the compared turns, each once though branches share it;
 * all else is context.
 *
 * @param options.rows each side's token sequences.
 * @param options.maxPositions longest sequence that the model takes, in tokens.
 * @param options.where file and line, for messages.
 * @throws {DataError} DATA_BAD_RECORD when the turns before the compared ones differ: actions of different states cannot be compared.
 */
export function pairRows(
  pair: PreferencePair,
  options: {
    rows: Readonly<Record<PairSide, readonly TokenRow[]>>;
    maxPositions: number;
    where: string;
  },
): PairRows | UnusablePair {
  const { fromTurn = 0 } = pair;
  const [chosen, rejected] = [pair.chosen.trajectory, pair.rejected.trajectory];
  const differing = chosen.turns
    .slice(0, fromTurn)
    .findIndex(({ text }, i) => rejected.turns[i]?.text !== text);
  if (differing >= 0) {
    throw new DataError(
      "DATA_BAD_RECORD",
      `${options.where}: compares from turn ${fromTurn} on, and the sides differ in turn ${differing} already. What stands before the compared turns must be the same; make the pairs again, or drop the line.`,
    );
  }
  const sides: [SideRows, SideRows] = [
    sideRows(options.rows.chosen, comparedCalls(chosen, pair)),
    sideRows(options.rows.rejected, comparedCalls(rejected, pair)),
  ];
  if (sides.some(({ tokens }) => tokens === 0)) return "nothing-compared";
  const longest = Math.max(...sides.flatMap(({ rows }) => rows.map(({ ids }) => ids.length)));
  // The last token is only predicted.
  if (longest - 1 > options.maxPositions) return "too-long";
  return { chosen: sides[0], rejected: sides[1] };
}

/** Calls whose messages are compared; null: all. */
function comparedCalls(
  { turns }: Trajectory,
  { fromTurn, turns: count }: Pick<PreferencePair, "fromTurn" | "turns">,
): ReadonlySet<number> | null {
  if (fromTurn === undefined && count === undefined) return null;
  const first = fromTurn ?? 0;
  return new Set(turns.slice(first, first + (count ?? Infinity)).map(({ call }) => call));
}

function sideRows(rows: readonly TokenRow[], calls: ReadonlySet<number> | null): SideRows {
  const counted = new Set<number>();
  let tokens = 0;
  const compact = rows.map((row): ComparedRow => {
    const own = new Set(row.calls.filter((call) => !counted.has(call)));
    own.forEach((call) => counted.add(call));
    const compared = Uint8Array.from(row.ids, (_, i) => {
      const call = row.callOf[i] ?? 0;
      const counts = row.owners[i] === "policy" && own.has(call) && (calls?.has(call) ?? true);
      return i > 0 && counts ? 1 : 0;
    });
    tokens += compared.reduce((sum, each) => sum + each, 0);
    // What follows the compared tokens changes nothing about them.
    const end = compared.lastIndexOf(1) + 1;
    return { ids: Int32Array.from(row.ids.slice(0, end)), compared: compared.slice(0, end) };
  });
  return { rows: compact.filter(({ ids }) => ids.length > 0), tokens };
}

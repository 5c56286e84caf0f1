import { type Interval, wilsonInterval } from "../evaluate/statistics.ts";
import { goldShown } from "../trajectory/gold-shown.ts";
import type { Trajectory, Turn } from "../trajectory/trajectory.ts";
import { type ReportRow, type ResultFiles, scoredTrajectories } from "./results-files.ts";

/** Search behaviour of a policy, computed from rows and trajectories. */
export interface RunFigures {
  /** Rows, including failed ones, which are in no other count but `failures`. */
  draws: number;
  /** By number of searches, 0 to `MOST_SEARCHES` and more: draws and their EM. */
  bySearches: { searches: number; draws: number; em: number | null; interval: Interval | null }[];
  /** Searches that repeat a query of the same trajectory, and the trajectories with such a search. */
  duplicates: { searches: number; repeated: number; trajectories: number };
  /**
   * Mean share of the gold passages that the policy had been shown before any search (0) and after each search round, the last value
   * repeated for missing rounds; over draws with known gold.
   */
  evidence: { draws: number; byRound: number[] };
  /** Failures by code. */
  failures: Record<string, number>;
}

/** Returns a question's gold passages; null if unknown. */
export type GoldOf = (row: ReportRow) => readonly string[] | null;

/** Larger numbers of searches share one column. */
const MOST_SEARCHES = 8;
/** Later search rounds are left out: few trajectories have them. */
const MOST_ROUNDS = 8;

/** One pass over rows and trajectories; memory holds only counts. */
export async function runFigures(files: ResultFiles, goldOf: GoldOf): Promise<RunFigures> {
  const counts = Array.from({ length: MOST_SEARCHES + 1 }, () => ({
    draws: 0,
    right: 0,
    em: 0,
    scored: 0,
  }));
  const duplicates = { searches: 0, repeated: 0, trajectories: 0 };
  const recalls = Array.from({ length: MOST_ROUNDS + 1 }, () => 0);
  const failures: Record<string, number> = {};
  let [draws, withGold, rounds] = [0, 0, 0];
  for await (const { row, trajectory } of scoredTrajectories(files)) {
    draws += 1;
    if (row.error !== undefined) {
      failures[row.error.code] = (failures[row.error.code] ?? 0) + 1;
      continue;
    }
    const queries = queriesOf(row, trajectory);
    const { em } = row as { em?: number | null };
    const count = counts[Math.min(searchCount(row, queries.length), MOST_SEARCHES)];
    if (count !== undefined) {
      count.draws += 1;
      count.scored += Number(typeof em === "number");
      count.em += em ?? 0;
      count.right += Number(em === 1);
    }
    const repeated = queries.length - new Set(queries).size;
    duplicates.searches += queries.length;
    duplicates.repeated += repeated;
    duplicates.trajectories += Number(repeated > 0);
    const evidence = evidenceOf(row, trajectory, goldOf);
    if (evidence === null) continue;
    withGold += 1;
    rounds = Math.max(rounds, Math.min(evidence.seen.length, MOST_ROUNDS));
    const { gold, given, seen } = evidence;
    for (let round = 0; round <= MOST_ROUNDS; round++) {
      const shown = round === 0 ? given : (seen[Math.min(round, seen.length) - 1] ?? given);
      recalls[round] = (recalls[round] ?? 0) + shown / gold;
    }
  }
  const last = counts.findLastIndex((count) => count.draws > 0);
  return {
    draws,
    bySearches: counts
      .slice(0, last + 1)
      .map(({ draws: own, scored, right, em }, searches) => ({
        searches,
        draws: own,
        em: scored === 0 ? null : em / scored,
        interval: scored === 0 ? null : wilsonInterval(right, scored),
      })),
    duplicates,
    evidence: {
      draws: withGold,
      byRound: withGold === 0 ? [] : recalls.slice(0, rounds + 1).map((sum) => sum / withGold),
    },
    failures,
  };
}

/** The policy's searches or, where it made none, its strategy's. */
function searchCount(row: ReportRow, queries: number): number {
  const { searches = queries, strategySearches = 0 } = row as {
    searches?: number;
    strategySearches?: number;
  };
  return searches === 0 ? strategySearches : searches;
}

/** Queries without case and extra white space; from the row, else from the trajectory. */
function queriesOf(row: ReportRow, trajectory: Trajectory | null): string[] {
  const told = row["queries"];
  const asked = Array.isArray(told)
    ? told.map(String)
    : (trajectory?.turns.flatMap(searchesOf) ?? []);
  return asked.map((query) => query.toLowerCase().split(/\s+/).join(" ").trim());
}

function searchesOf({ actions, observations }: Turn): string[] {
  const asked = actions.filter(({ tool }) => tool !== "answer");
  return observations.flatMap(({ tool }, i) => (tool === "search" ? [asked[i]?.input ?? ""] : []));
}

/** Gold passages shown after each search round, from the row, else counted here. */
interface Evidence {
  gold: number;
  given: number;
  seen: number[];
}

function evidenceOf(
  row: ReportRow,
  trajectory: Trajectory | null,
  goldOf: GoldOf,
): Evidence | null {
  const told = row["evidence"] as Evidence | undefined;
  if (told !== undefined) return told;
  const gold = goldOf(row);
  if (trajectory === null || gold === null || gold.length === 0) return null;
  const { given, after } = goldShown(trajectory, gold);
  const seen = after.filter((_, turn) => (trajectory.turns[turn]?.observations.length ?? 0) > 0);
  return { gold: new Set(gold).size, given, seen };
}

/** How policies behaved: how their trajectories ended, and how they searched. */
import { formatCount, formatPercent, formatScore } from "../../base/format.ts";
import { type Block, type Cell, code, named, note, type RowGroup, table } from "../document.ts";
import type { Results } from "../results-schema.ts";
import type { RunFigures } from "../run-figures.ts";
import type { ReadableResult } from "../viewer/evaluation-items.ts";
import type { Scored } from "./scores.ts";

/** A result with all data for its tables and charts. */
export interface DrawnResult extends Scored {
  results: Results;
  readable: ReadableResult;
  figures: RunFigures;
}

/** Draws by end reason, a bar per result; failures by code below. */
export function endTables(drawn: readonly DrawnResult[]): Block[] {
  const counts = drawn.map(({ results }) => results.ends);
  const totals = counts.map((own) => Object.values(own).reduce((sum, count) => sum + count, 0));
  const most = (end: string): number => Math.max(...counts.map((own) => own[end] ?? 0));
  const ends = [...new Set(counts.flatMap((own) => Object.keys(own)))].sort(
    (a, b) => most(b) - most(a),
  );
  const several = drawn.length > 1;
  const codes = [...new Set(drawn.flatMap(({ figures }) => Object.keys(figures.failures)))].sort();
  const failures = table(
    "Failures by code",
    ["code", ...drawn.map(({ name }) => ({ label: name, format: formatCount }))],
    codes.map((each) => [code(each), ...drawn.map(({ figures }) => figures.failures[each] ?? 0)]),
  );
  return [
    {
      kind: "table",
      caption: "How trajectories ended",
      className: "panel",
      columns: [
        ...(several ? ["end", "result"] : ["end"]),
        { label: "", drawn: true },
        { label: "share", format: formatPercent },
        { label: "draws", format: formatCount },
      ],
      groups: ends.map((end) => ({
        side: several ? end : undefined,
        rows: drawn.map(({ name, series }, i) => {
          const count = counts[i]?.[end] ?? 0;
          const share = count / Math.max(totals[i] ?? 0, 1);
          return [several ? named(series, name) : end, { share, series }, share, count];
        }),
      })),
    },
    ...(codes.length === 0
      ? []
      : [{ kind: "heading" as const, text: "Failures, not measured" }, failures]),
  ];
}

/** Search behaviour of policies: draws and their EM by number of searches, gold passages seen by search, repeated queries. */
export function searchBlocks(results: readonly DrawnResult[]): Block[] {
  const most = Math.max(1, ...results.map(({ figures }) => figures.bySearches.length));
  const rounds = Math.max(0, ...results.map(({ figures }) => figures.evidence.byRound.length));
  const several = results.length > 1;
  const groupsOf = (
    sides: readonly string[],
    row: (own: DrawnResult, at: number) => Cell[],
  ): RowGroup[] =>
    sides.map((side, at) => ({
      side: several ? side : undefined,
      rows: results.map((own) => [several ? named(own.series, own.name) : side, ...row(own, at)]),
    }));
  const names = several ? ["result"] : [];
  const unit = { max: 1, ticks: [0, 0.5, 1] };
  return [
    {
      kind: "table",
      caption: "Draws by number of searches",
      className: "panel",
      columns: [
        ...["searches", ...names],
        { label: "", drawn: true },
        { label: "share of draws", format: formatPercent },
        { label: "EM", axis: unit },
        { label: "EM", format: formatScore },
      ],
      // The last row counts eight or more.
      groups: groupsOf(
        Array.from({ length: most }, (_, i) => (i === 8 ? "8+" : String(i))),
        ({ series, figures: { bySearches, draws } }, at) => {
          const { draws: own = 0, em: value = null, interval = null } = bySearches[at] ?? {};
          const share = draws === 0 ? 0 : own / draws;
          return [
            { share, series },
            share,
            { dots: [{ value, interval, series }] },
            { value, interval },
          ];
        },
      ),
    },
    {
      kind: "table",
      caption: "Gold passages seen, after each search",
      className: "panel",
      columns: [
        ...["after search", ...names],
        { label: "", drawn: true },
        { label: "gold passages seen", format: formatScore },
      ],
      groups: groupsOf(
        Array.from({ length: rounds }, (_, i) => (i === 0 ? "none" : String(i))),
        ({ series, figures: { evidence } }, at) => {
          const share = evidence.byRound[at] ?? evidence.byRound.at(-1);
          return share === undefined ? [null, null] : [{ share, series }, share];
        },
      ),
    },
    ...results.map(({ name, series, figures: { duplicates, draws } }): Block => {
      const { searches, repeated, trajectories } = duplicates;
      const found =
        searches === 0
          ? "no trajectory searched"
          : `${formatCount(repeated)} of ${formatCount(searches)} searches repeat a query of their trajectory (${formatPercent(repeated / searches)}), in ${formatCount(trajectories)} of ${formatCount(draws)} trajectories`;
      return note(several && [named(series, name), ": "], found);
    }),
  ];
}

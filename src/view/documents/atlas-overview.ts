import { formatDifference } from "../../base/format.ts";
import type { ClaimResult } from "../../experiment/claims/claim-results.ts";
import type { KeptResults } from "../../experiment/claims/kept-results.ts";
import { measuredText, verdictCounts } from "../../experiment/claims/verdict-text.ts";
import { axisAround } from "../charts/marks.ts";
import type { Block, Cell, Inline, Table } from "../document.ts";
import { VERDICT_TONES } from "./reproduction.ts";

/** A recipe with claims, and what is known of them. */
export interface AtlasSystem {
  name: string;
  summary: string;
  family: string;
  /** Ids of its claims, as the recipe states them today. */
  claims: string[];
  /** null: not measured yet. */
  results: KeptResults | null;
  /** Whether the recipe still has the claims and settings of the results; null: they do not say. */
  isCurrent: boolean | null;
}

/** Families of instruments, which come last: their tests are of the miniatures, not of papers. */
const INSTRUMENTS: ReadonlySet<string> = new Set(["instrument"]);

/** Systems of papers, then instruments. */
export function instrumentsLast(systems: readonly AtlasSystem[]): AtlasSystem[] {
  const rank = ({ family }: AtlasSystem): number => Number(INSTRUMENTS.has(family));
  return systems.toSorted((a, b) => rank(a) - rank(b));
}

/** What the atlas counts: claims of papers, measured by the present procedure. */
interface CountedClaim {
  system: AtlasSystem;
  claim: ClaimResult;
}

export function countedClaims(systems: readonly AtlasSystem[], procedure: 1 | 2): CountedClaim[] {
  return systems.flatMap((system) => {
    const { results, family } = system;
    if (results?.procedure !== procedure || INSTRUMENTS.has(family)) return [];
    // A fixed number of seeds is an exploration.
    if (procedure === 2 && results.looks.length === 1) return [];
    const own = results.claims.filter(({ role }) => role === "claim");
    return own.map((claim) => ({ system, claim }));
  });
}

/** Verdicts that decide a claim. */
const DECIDED: ReadonlySet<string> = new Set(["supported", "reversed", "ruled out"]);

/** How many claims of each kind are decided, and how. */
export function atlasTally(systems: readonly AtlasSystem[]): Block {
  const counted = countedClaims(systems, 2);
  const waiting = countedClaims(systems, 1).length;
  const figures = (["method", "construction"] as const).map((kind) => {
    const own = counted.filter(({ claim }) => claim.kind === kind).map(({ claim }) => claim);
    const decided = own.filter(({ verdict }) => DECIDED.has(verdict));
    return {
      name: `claims by ${kind}`,
      value: own.length === 0 ? "–" : `${decided.length} of ${own.length}`,
      label: "decided",
      details: own.length === 0 ? [] : [verdictCounts(own)],
    };
  });
  const older = {
    name: "older results",
    value: waiting,
    label: "claims",
    details: ["first procedure, to be measured again"],
  };
  return { kind: "figures", figures: waiting === 0 ? figures : [...figures, older] };
}

/** Every comparison of claims as a row: difference with interval, the paper's difference as a tick, seeds and verdict. */
export function forest(systems: readonly AtlasSystem[], procedure: 1 | 2): Table {
  const counted = countedClaims(systems, procedure);
  const shares = counted.flatMap(({ claim }) => (claim.isShare ? claim.comparisons : []));
  const ends = shares.flatMap(({ difference, ci95 }) => ci95 ?? [difference]);
  const largest = Math.min(0.5, Math.max(0.1, ...ends.map((end) => Math.abs(end))));
  const rowsOf = (kind: ClaimResult["kind"]): Cell[][] =>
    counted.filter(({ claim }) => claim.kind === kind).flatMap((each) => forestRows(each));
  return {
    kind: "table",
    caption: procedure === 2 ? "Differences" : "Older results",
    className: "panel lines",
    columns: [
      "system",
      { label: "claim", className: "what" },
      { label: "chart", axis: axisAround(largest) },
      { label: "difference", format: formatDifference },
      { label: "paper", format: formatDifference },
      "seeds",
      "verdict",
    ],
    groups: (["method", "construction"] as const).flatMap((kind) => {
      const rows = rowsOf(kind);
      return rows.length === 0 ? [] : [{ title: `by ${kind}`, rows }];
    }),
  };
}

function forestRows({ system, claim }: CountedClaim): Cell[][] {
  const { name, family } = system;
  const link = { text: name, style: "plain", href: `#${name}`, data: { family } } as const;
  const paperOf = (arm: string): number | undefined =>
    claim.arms.find((each) => each.name === arm)?.paper?.value;
  return claim.comparisons.map(({ left, relation, right, difference, ci95, verdict }, i) => {
    const [ours, theirs] = [paperOf(left), paperOf(right)];
    const paper = ours === undefined || theirs === undefined ? null : ours - theirs;
    const dots = [
      { value: difference, interval: ci95, series: 0, tick: claim.isShare ? paper : null },
    ];
    return [
      link,
      [i === 0 && `${claim.id}: `, { text: `${left} ${relation} ${right}`, style: "code" }],
      claim.isShare ? { dots } : undefined,
      { value: difference, interval: ci95 },
      paper ?? undefined,
      claim.arms[0]?.seeds.length,
      badge({ verdict }),
    ];
  });
}

/** A line for each claim, and for each recipe without claims; instruments last. */
export function atlasOverview(systems: readonly AtlasSystem[]): Table {
  return {
    kind: "table",
    caption: "Claims",
    columns: ["family", "system", "claim", "verdict", "measured"],
    groups: instrumentsLast(systems).map((system) => {
      const { name, family, claims, results } = system;
      const data = { family };
      const link = { text: name, style: "plain", href: `#${name}`, data } as const;
      const when = measuredText(system);
      if (results !== null)
        return {
          rows: results.claims.map((claim) => [family, link, claim.id, badge(claim), when]),
        };
      const listed = claims.length === 0 ? ["no claims yet"] : claims;
      return { rows: listed.map((claim) => [family, link, claim, "", when]) };
    }),
  };
}

export function badge({ verdict }: Pick<ClaimResult, "verdict">): Inline {
  return { text: verdict, style: VERDICT_TONES[verdict] ?? "badge" };
}

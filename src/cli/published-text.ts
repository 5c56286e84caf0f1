import type { Measurement, PublishedGap } from "../evaluate/compare/published-gap.ts";
import type { PaperCell } from "../recipe/claims.ts";
import { type ComparisonFormat, counted, intervalText, signed } from "./comparison-text.ts";
import { markdownTable, table } from "./table.ts";

/** Ours against published numbers, each with where it stands. */
export interface PublishedComparison {
  run: string;
  ours: Measurement;
  gaps: (PublishedGap & { cell: PaperCell | null; n: number | null })[];
  /** Parts of the protocol that are known of both and differ. */
  differences: { part: string; ours: string; theirs: string }[];
  /** Parts that are known of one side alone. */
  unseen: string[];
}

/** A comparison with published numbers for people; fits 80 columns where names do. */
export function publishedText(found: PublishedComparison, format: ComparisonFormat): string {
  const { run, ours, gaps, differences, unseen } = found;
  const tables = format === "md" ? markdownTable : table;
  const { metric, n, value, ci95, method, leftOut } = ours;
  const twoSample = gaps.some((gap) => gap.twoSample !== null);
  const models = new Set(gaps.map(({ cell }) => cell?.model)).size > 1;
  const rows = gaps.map(
    ({ cell, published, difference, ci95: interval, inside, twoSample: two }) => [
      cell?.system ?? "published",
      ...(models ? [cell?.model ?? ""] : []),
      published.toFixed(3),
      signed(difference),
      intervalText(two ?? interval),
      ...(twoSample ? [] : [inside ? "yes" : "no"]),
    ],
  );
  const [low, high] = ci95;
  const about = [...new Set(gaps.flatMap(({ cell }) => (cell === null ? [] : [placeOf(cell)])))];
  return [
    [
      run,
      `${metric} ${value.toFixed(3)}, 95 % interval ${low.toFixed(3)} … ${high.toFixed(3)} (${method}), ${counted(n, "question")}${leftOut > 0 ? `, ${leftOut} left out that ended in errors` : ""}`,
      ...about,
    ].join(format === "md" ? "  \n" : "\n"),
    tables(rows, {
      head: [
        "",
        ...(models ? ["model"] : []),
        ...["published", "gap", "95 % interval"],
        ...(twoSample ? [] : ["inside"]),
      ],
      align: ["left", ...(models ? (["left"] as const) : []), "right", "right", "left", "left"],
    }),
    [
      twoSample
        ? "gap: ours minus published; the interval takes both as samples."
        : "gap: ours minus published, which is taken as exact (--n makes it a sample).",
      ...(differences.length > 0 ? ["Not the same protocol:"] : []),
      ...differences.map(({ part, ours: a, theirs: b }) => `  ${part}: ours ${a}, theirs ${b}`),
      ...(unseen.length > 0 ? [`Cannot be seen from here: ${unseen.join(", ")}.`] : []),
    ].join("\n"),
  ].join("\n\n");
}

function placeOf({ table: id, dataset, split }: PaperCell): string {
  return `${id}, ${dataset}${split === null ? "" : `, ${split}`}`;
}

import { type NumberFormat, fixed, formatCount } from "../../base/format.ts";
import { metricLabel } from "../../evaluate/metrics/metric-columns.ts";
import { type Decode, textsBy } from "../../trajectory/trajectory.ts";
import { type ReportRow, type ResultFiles, rowId, scoredTrajectories } from "../results-files.ts";
import type { GoldOf } from "../run-figures.ts";
import { trajectoryBlocks } from "../trajectory-blocks.ts";
import { referencesFact, shownFacts, subtitleOf } from "../trajectory-facts.ts";
import type { Verdict, ViewerDetail } from "./contract.ts";
import type { ItemSpec, ViewerItem } from "./embed.ts";

/** A result with the tokenizer and gold of its trajectories. */
export interface ReadableResult {
  files: ResultFiles;
  decode: Decode | null;
  goldOf: GoldOf;
}

/** Viewer settings for evaluations. */
export const EVALUATION_SPEC: ItemSpec = {
  noun: ["trajectory", "trajectories"],
  facets: [
    { key: "result", label: "Result" },
    { key: "verdict", label: "Verdict" },
    { key: "hops", label: "Hops" },
    { key: "type", label: "Type" },
    { key: "searches", label: "Searches" },
    { key: "end", label: "End" },
    { key: "error", label: "Error" },
  ],
  chunkSize: 250,
};

/** The trajectories of evaluations for the viewer, streamed, one result after another. @param results.name for people, unique. */
export async function* evaluationItems(
  results: readonly (ReadableResult & { name: string })[],
): AsyncGenerator<ViewerItem> {
  for (const { name, files, decode, goldOf } of results) {
    for await (const { row, trajectory } of scoredTrajectories(files)) {
      const { hops, type, end, error } = row;
      const verdict = verdictOf(row);
      const several = results.length > 1;
      const id = several ? `${name}:${rowId(row)}` : rowId(row);
      const draw = files.results.samplesPerTask > 1 ? `draw ${row.sample + 1}` : "";
      yield {
        entry: {
          id,
          title: row.question,
          subtitle: subtitleOf(row),
          verdict,
          // Datasets may have equal question ids.
          group: JSON.stringify([row.id, row.question]),
          label: [several ? name : "", draw].filter((part) => part !== "").join(", "),
          facets: [
            several ? name : null,
            verdict,
            hops === undefined ? null : String(hops),
            type ?? null,
            textOf(row["searches"]),
            end,
            error?.code ?? null,
          ],
        },
        detail: {
          facts: rowFacts(row),
          blocks:
            trajectory === null
              ? []
              : trajectoryBlocks(trajectory, { textOf: textsBy(decode), gold: goldOf(row) }),
        },
      };
    }
  }
}

/** Right by EM; partly if only F1 or cover-EM is above 0. */
function verdictOf(row: ReportRow): Verdict {
  if (row.error !== undefined) return "failed";
  if (row["em"] === 1) return "right";
  if (typeof row["em"] !== "number") return null;
  return [row["f1"], row["cover_em"]].some((value) => typeof value === "number" && value > 0)
    ? "partly"
    : "wrong";
}

const NUMBERS: readonly (readonly [key: string, label: string, format: NumberFormat])[] = [
  ...(["em", "f1", "cover_em"] as const).map((key) => [key, metricLabel(key), fixed(3)] as const),
  ["searches", "Searches", formatCount],
  ["turns", "Messages", formatCount],
  ["tokens", "Tokens written", formatCount],
];

function rowFacts(row: ReportRow): ViewerDetail["facts"] {
  const { answer, references, end, hops, type } = row;
  return shownFacts([
    ["Answer", answer ?? "none"],
    referencesFact(references),
    ["End", end],
    ["Hops", hops === undefined ? null : String(hops)],
    ["Type", type ?? null],
    ...NUMBERS.map(([key, label, format]) => {
      const value = row[key];
      return [label, typeof value === "number" ? format(value) : null] as const;
    }),
  ]);
}

function textOf(value: unknown): string | null {
  return typeof value === "number" || typeof value === "string" ? String(value) : null;
}

import { fixed, formatCount, formatP, orAbsent, signed } from "../base/format.ts";
import { intervalColumn, renderMarkdown } from "../base/table.ts";
import {
  metricColumn,
  metricFormat,
  shownMetrics,
  shownValue,
} from "../evaluate/metrics/metric-columns.ts";
import { disagreementNotes } from "../evaluate/paired-test.ts";
import { failuresText } from "../evaluate/evaluation-summary.ts";
import { policyLabel } from "../evaluate/policy-label.ts";
import type { ResultFiles } from "./results-files.ts";
import { failuresOf, type Results } from "./results-schema.ts";
import { pairedWithFirst } from "./paired-with-first.ts";
import { compareResults } from "./comparison.ts";
import { protocolDifferences } from "./same-protocol.ts";
import { type GroupScores, scoreGroups } from "./score-groups.ts";
import { AVERAGE_NOTE, matrixTable } from "./score-matrix.ts";

/**
 * Results as Markdown: of several datasets a matrix; then one table per dataset and protocol, a line per result and group, 95 % intervals in
 * brackets. Results of one dataset with different fingerprints have a warning, unless they differ only in parts named by `across`.
 */
export async function resultsAsMarkdown(
  files: readonly ResultFiles[],
  across: readonly string[] = [],
): Promise<string> {
  const { matrix, parts: compared } = compareResults(files, across);
  const parts = ["# Evaluation", ""];
  if (matrix !== null)
    parts.push(renderMarkdown(matrixTable(matrix, escaped)), "", AVERAGE_NOTE, "");
  for (const { dataset, protocols } of compared) {
    if (protocols.length > 1) parts.push(...warning(protocols.map(({ of }) => of)), "");
    for (const { fingerprint, of } of protocols) {
      parts.push(
        `## ${dataset === null ? "P" : `${escaped(dataset)}, p`}rotocol ${fingerprint}`,
        "",
      );
      for (const { name, results } of of) parts.push(`- ${describe(name, results)}`);
      parts.push("", await scoreTable(of), "", ...(await pairedParts(of, across)));
    }
  }
  parts.push("In brackets: 95 % intervals over questions.", "");
  return parts.join("\n");
}

/** Differences to the first result. */
async function pairedParts(
  of: readonly ResultFiles[],
  across: readonly string[],
): Promise<string[]> {
  const found = await pairedWithFirst(of, across);
  const [first, ...others] = of;
  if (found === null || first === undefined) return [];
  if (typeof found === "string") return [`Not compared: ${escaped(found)}`, ""];
  const change = signed(3);
  return [
    renderMarkdown({
      columns: [
        `minus ${escaped(first.name)}`,
        "",
        { label: "difference", format: change },
        intervalColumn("95 % interval", change),
        { label: "p (Holm)", format: formatP },
      ],
      rows: found.flatMap(({ metric, others: own }) =>
        others.map(({ name }, i) => [
          ...[escaped(name), metric, own[i]?.difference, own[i]?.ci95, own[i]?.p],
        ]),
      ),
    }),
    "",
    ...disagreementNotes(found.flatMap((each) => each.others)).flatMap((text) => [text, ""]),
  ];
}

function describe(name: string, results: Results): string {
  const { n, samplesPerTask, policy, dataset, strategy, seed } = results;
  const failures = failuresOf(results);
  const label = policyLabel(policy);
  return [
    `**${escaped(name)}**${name === label ? "" : `: ${escaped(label)}`} on ${escaped(dataset)}, strategy ${escaped(strategy)}, ${n} questions`,
    ...(samplesPerTask > 1 ? [`${samplesPerTask} draws each`] : []),
    `seed ${seed}`,
    ...(failures.n > 0 ? [`**${failuresText(failures)}**`] : []),
    ...(results.readsGold ? ["**the search uses the gold: a control, not a result**"] : []),
  ].join(", ");
}

async function scoreTable(files: readonly ResultFiles[]): Promise<string> {
  const scored: { name: string; groups: GroupScores[] }[] = [];
  for (const own of files) scored.push({ name: own.name, groups: await scoreGroups(own) });
  const present = Object.assign({}, ...scored.map(({ groups }) => groups[0]?.metrics)) as object;
  const metrics = [
    ...shownMetrics({ ...present }),
    ...Object.keys(present).filter((metric) => metric.includes("@")),
  ];
  const several = files.length > 1;
  return renderMarkdown({
    columns: [
      ...(several ? ["result"] : []),
      "questions",
      { label: "n", format: formatCount },
      ...metrics.map((metric) => metricColumn(metric)),
    ],
    rows: scored.flatMap(({ name, groups }) =>
      groups.map((group) => [
        ...(several ? [escaped(name)] : []),
        ...[escaped(group.name), group.n],
        ...metrics.map((metric) => withBrackets(group, metric)),
      ]),
    ),
  });
}

function withBrackets({ metrics, intervals }: GroupScores, metric: string): string {
  const value = orAbsent(shownValue(metrics, metric), metricFormat(metric));
  const ends = intervals[metric]?.map(fixed(3)).join(", ");
  return ends === undefined ? value : `${value} [${ends}]`;
}

function warning(protocols: readonly (readonly ResultFiles[])[]): string[] {
  const differences = protocolDifferences(protocols.map(([first]) => first?.results.protocol));
  const fingerprints = protocols.map(([first]) => first?.results.fingerprint ?? "");
  return [
    `> **Not comparable.** These results were measured under ${protocols.length} protocols, so they are in ${protocols.length} tables. They differ in:`,
    "",
    renderMarkdown({
      columns: ["", ...fingerprints],
      rows: differences.map(({ key, values }) => [
        `\`${key}\``,
        ...values.map((value) => (value === null ? null : escaped(value))),
      ]),
    }),
  ];
}

/** Text on one line, without Markdown; tables escape their own bars. */
function escaped(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#~]/g, "\\$&").replace(/\s*\n\s*/g, " ");
}

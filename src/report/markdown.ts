import { metricLabel, PRIMARY_METRICS, shownNumber } from "./metric-names.ts";
import type { ResultFiles } from "./results-files.ts";
import { failuresOf, type Results } from "./results-schema.ts";
import { rangeOf } from "./row-value.ts";
import { byProtocol, protocolDifferences } from "./same-protocol.ts";
import { type GroupScores, scoreGroups } from "./score-groups.ts";

/** Metrics beside those with an interval, where the results have them. */
const FURTHER = ["searches", "answer_rate", "completion_tokens"];

/**
 * Results as Markdown: one table per protocol, a line per result and group, 95 % intervals in brackets. Results of unlike fingerprints
 * never share a table, and are said not to be comparable.
 */
export async function resultsAsMarkdown(files: readonly ResultFiles[]): Promise<string> {
  const protocols = byProtocol(files);
  const parts = ["# Evaluation", ""];
  if (protocols.length > 1) parts.push(...warning(protocols.map(({ of }) => of)), "");
  for (const { fingerprint, of } of protocols) {
    parts.push(`## Protocol ${fingerprint}`, "");
    for (const { name, results } of of) parts.push(`- ${describe(name, results)}`);
    parts.push("", ...(await scoreTable(of)), "");
  }
  parts.push("In brackets: 95 % intervals over questions.", "");
  return parts.join("\n");
}

function describe(name: string, results: Results): string {
  const { n, samplesPerTask, policy, dataset, strategy, seed } = results;
  const failed = failuresOf(results).n;
  return [
    `**${cell(name)}**: ${cell(policy.from ?? "policy")} on ${cell(dataset)}, strategy ${cell(strategy)}, ${n} questions`,
    ...(samplesPerTask > 1 ? [`${samplesPerTask} draws each`] : []),
    `seed ${seed}`,
    ...(failed > 0 ? [`**${failed} draws failed and were not measured**`] : []),
    ...(results.readsGold ? ["**the search looks at the gold: a control, no result**"] : []),
  ].join(", ");
}

async function scoreTable(files: readonly ResultFiles[]): Promise<string[]> {
  const scored: { name: string; groups: GroupScores[] }[] = [];
  for (const own of files) scored.push({ name: own.name, groups: await scoreGroups(own) });
  const withInterval = PRIMARY_METRICS.filter((metric) =>
    scored.some(({ groups }) => typeof groups[0]?.metrics[metric] === "number"),
  );
  const present = new Set(scored.flatMap(({ groups }) => Object.keys(groups[0]?.metrics ?? {})));
  const further = [
    ...FURTHER.filter((metric) => present.has(metric)),
    ...[...present].filter((metric) => metric.includes("@")),
  ];
  const several = files.length > 1;
  const head = [...(several ? ["result"] : []), "questions", "n"];
  const metrics = [...withInterval, ...further];
  return [
    line([...head, ...metrics.map(metricLabel)]),
    line([...head.slice(0, -1).map(() => "---"), ...["n", ...metrics].map(() => "---:")]),
    ...scored.flatMap(({ name, groups }) =>
      groups.map((group) =>
        line([
          ...(several ? [cell(name)] : []),
          cell(group.name),
          String(group.n),
          ...withInterval.map((metric) => withBrackets(group, metric)),
          ...further.map((metric) => shownNumber(group.metrics[metric], rangeOf(metric))),
        ]),
      ),
    ),
  ];
}

function withBrackets({ metrics, intervals }: GroupScores, metric: string): string {
  const value = shownNumber(metrics[metric], "share");
  const interval = intervals[metric];
  if (interval === null || interval === undefined) return value;
  return `${value} [${interval.map((end) => shownNumber(end, "share")).join(", ")}]`;
}

function warning(protocols: readonly (readonly ResultFiles[])[]): string[] {
  const differences = protocolDifferences(protocols.map(([first]) => first?.results.protocol));
  const fingerprints = protocols.map(([first]) => first?.results.fingerprint ?? "");
  return [
    `> **Not comparable.** These results were measured under ${protocols.length} protocols, so they stand in ${protocols.length} tables. They differ in:`,
    "",
    line(["", ...fingerprints]),
    line(["---", ...fingerprints.map(() => "---")]),
    ...differences.map(({ key, values }) =>
      line([`\`${key}\``, ...values.map((value) => cell(value ?? "–"))]),
    ),
  ];
}

function line(cells: readonly string[]): string {
  return `| ${cells.join(" | ")} |`;
}

/** Text that stays in its cell and is no markup. */
function cell(text: string): string {
  return text.replace(/[\\`*_{}[\]<>#|~]/g, "\\$&").replace(/\s*\n\s*/g, " ");
}

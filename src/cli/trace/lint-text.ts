import { formatCount, plural } from "../../base/format.ts";
import { renderText } from "../../base/table.ts";
import type { LintReport } from "../../trajectory/lint/open-lint.ts";
import type { Recomputed } from "./lint-model.ts";

/** A checked file. */
export interface LintOutcome {
  report: LintReport;
  /** Source of how the trajectories were made; null: none. */
  origin: string | null;
  recomputed: Recomputed | null;
}

/** Most shown violations of one rule. */
const SHOWN = 3;

/** The outcome for people: counts, the first violations of each rule, and the rules that could not be checked. */
export function lintText(file: string, { report, origin, recomputed }: LintOutcome): string {
  const { checked, counts, violations, unknown } = report;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const found = total === 0 ? "no violation" : plural(total, "violation");
  const lines = [`${file}: ${plural(checked, "trajectory", "trajectories")} checked, ${found}.`];
  const rows = Object.entries(counts).flatMap(([code, count]) =>
    violations
      .filter((violation) => violation.code === code)
      .slice(0, SHOWN)
      .map(({ id, line, message }, i) => [
        ...(i === 0 ? [code, formatCount(count)] : ["", ""]),
        line === null ? "" : `line ${line}`,
        id ?? "",
        message,
      ]),
  );
  const columns = ["", { label: "", align: "right" as const }];
  if (rows.length > 0) lines.push("", renderText({ columns, rows }), "");
  lines.push(...unknownLines(report.checked, unknown, origin));
  if (recomputed !== null) lines.push(...recomputedLines(recomputed));
  return lines.join("\n");
}

function unknownLines(
  checked: number,
  unknown: Readonly<Record<string, number>>,
  origin: string | null,
): string[] {
  const codes = Object.keys(unknown);
  if (codes.length === 0) return [];
  const most = Math.max(...Object.values(unknown));
  const of = most === checked ? "any" : `up to ${formatCount(most)} of ${formatCount(checked)}`;
  const why =
    origin === null
      ? "no recipe.resolved.yaml or results.json lies beside the file; name --protocol, and --model for its tokenizer."
      : `read from ${origin}; tokens are read by --model, and strategies with prompts of their own keep to no protocol.`;
  return [`Not checked, of ${of}: ${codes.join(", ")} (${why})`];
}

function recomputedLines({
  trajectories,
  tokens,
  left,
  otherwiseDrawn,
  largest,
  mean,
}: Recomputed): string[] {
  const out = [
    [left.scripted, "by a script"],
    [left.otherWeights, "by other weights"],
    [left.otherModel, "by another model"],
    [left.tooLong, "longer than the model's context"],
  ] as const;
  const calls = out
    .filter(([count]) => count > 0)
    .map(([count, why]) => `${formatCount(count)} ${why}`);
  const more = [
    ...(calls.length === 0 ? [] : [`messages left out: ${calls.join(", ")}`]),
    ...(otherwiseDrawn === 0
      ? []
      : [
          `${plural(otherwiseDrawn, "trajectory", "trajectories")} left out: sampled by matrices of fewer bits than float32, or at a temperature that is not on record`,
        ]),
  ];
  const apart =
    tokens === 0
      ? ""
      : `: at most ${largest.toExponential(1)} nats apart, ${mean.toExponential(1)} in the mean`;
  return [
    `Log-probabilities of ${plural(tokens, "token")} in ${plural(trajectories, "trajectory", "trajectories")} computed again${apart}.`,
    ...more.map((text) => `  ${text}`),
  ];
}

/** What checks of rewards and of trajectories found. */
import { fixed, formatCount, formatTiny, plural, rounded, shorten } from "../../base/format.ts";
import type {
  CheckedCase,
  CheckedReward,
  RewardCheck,
} from "../../evaluate/reward-check/check-rewards.ts";
import { REWARD_CASES } from "../../rewards/expectations.ts";
import type { RecomputedSummary } from "../../rollout/recomputed-logprobs.ts";
import type { RewardCheckFacts } from "../../run/check-rewards.ts";
import type { LintReport } from "../../trajectory/lint/open-lint.ts";
import { type Block, type Cell, note, table } from "../document.ts";

/** A check in one line, for the notes of a training. */
export function rewardCheckLine({
  trajectories,
  withoutAnswering,
  notApplicable,
}: RewardCheckFacts): string {
  if (notApplicable !== undefined) return `rewards not checked: ${notApplicable}`;
  return `rewards checked on ${plural(trajectories, "scripted rollout")}; ${withoutAnsweringText(withoutAnswering)}`;
}

/**
 * A check: a row per case with each reward's declared and actual value, the errors, and the combined reward.
 * @param expression the recipe's `reward`, which reads rewards by their names; undefined: the weighted sum.
 */
export function rewardCheckBlocks(where: string, check: RewardCheck, expression?: string): Block[] {
  const { rewards, questions, trajectories, notApplicable } = check;
  if (notApplicable !== undefined) return [note(`${where}: rewards not checked: ${notApplicable}`)];
  const columns = rewards.flatMap(({ name, weight }) => [
    headOf(name, weight, expression),
    { label: "got", align: "right" as const },
    "",
  ]);
  const rows = (rewards[0]?.cases ?? []).map((row, i) => [
    row.case,
    ...rewards.flatMap(({ cases }) => cellsOf(cases[i])),
  ]);
  return [
    note(
      `${where}: ${plural(questions, "question")}, ${plural(trajectories, "trajectory", "trajectories")} played`,
    ),
    ...(expression === undefined ? [] : [note(`reward: ${expression}`)]),
    table("Cases", ["case", ...columns], rows),
    ...rewards.flatMap(wrongLines).map((text) => note(text)),
    ...closingLines(check).map((text) => note(text)),
  ];
}

function headOf(
  name: string,
  weight: CheckedReward["weight"],
  expression: string | undefined,
): string {
  if (weight === 1) return name;
  // Beside an expression 0 is the default: what counts is what the expression reads.
  const isRead = expression?.split(/[^\w-]+/).includes(name) ?? false;
  if (weight === 0) return isRead ? name : `${name} (recorded only)`;
  return `${name} × ${typeof weight === "number" ? weight : `${weight.schedule} schedule`}`;
}

function wrongLines({ name, cases }: CheckedReward): string[] {
  return cases.flatMap(({ failed, case: at, expected }) => {
    if (failed === null) return [];
    const got = failed.value === null ? "no score" : rounded(failed.value);
    const answer =
      failed.answer === null ? "no answer" : shorten(JSON.stringify(failed.answer), 41);
    return [
      `${name}, ${at} (${REWARD_CASES[at].summary}): question ${failed.question}: ${got} for ${answer}, expected ${String(expected)}`,
    ];
  });
}

/** Rewards that could not be checked, and the reward without an answer. */
function closingLines({ rewards, notWritten, combined, withoutAnswering }: RewardCheck): string[] {
  const lines = rewards.flatMap(({ name, unscored: why }) =>
    why === undefined ? [] : [`${name} could not be checked: ${why}`],
  );
  if (notWritten.length > 0) lines.push(`This protocol cannot write: ${notWritten.join(", ")}.`);
  const free = withoutAnsweringText(withoutAnswering);
  if (combined === null || combined.ok)
    return [...lines, `${free.charAt(0).toUpperCase()}${free.slice(1)}.`];
  const { golden, most } = combined;
  return [
    ...lines,
    `The combined reward is ${rounded(most.value)} in case ${most.case}, and ${rounded(golden)} for an accepted answer: WRONG.`,
  ];
}

function withoutAnsweringText(found: RewardCheck["withoutAnswering"]): string {
  if (found === null) return "a golden answer earns nothing";
  if (found.share <= 0) return "a policy that does not answer earns nothing";
  return `a policy that does not answer earns up to ${fixed(1)(100 * found.share)} % of the reward (${found.case})`;
}

function cellsOf(checked: CheckedCase | undefined): Cell[] {
  if (checked === undefined) return ["", "", ""];
  const { expected, got, ok } = checked;
  const given =
    got === null ? "no score" : [...new Set(got.map((end) => rounded(end)))].join(" … ");
  if (expected === null) return ["any", given, ""];
  return [expected, given, ok ? "ok" : { text: "WRONG", style: "bad" }];
}

/** A checked file of trajectories. */
export interface LintOutcome {
  report: LintReport;
  /** Source of how the trajectories were made; null: none. */
  origin: string | null;
  /** Recomputed log-probabilities, and the trajectories that cannot have equal ones. */
  recomputed: (RecomputedSummary & { otherwiseDrawn: number }) | null;
}

/** Most shown violations of one rule. */
const SHOWN = 3;

/** Counts, the first violations of each rule, and the rules that could not be checked. */
export function lintBlocks(file: string, { report, origin, recomputed }: LintOutcome): Block[] {
  const { checked, counts, violations, unknown } = report;
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const found = total === 0 ? "no violation" : plural(total, "violation");
  const rows = Object.entries(counts).flatMap(([code, count]) =>
    violations
      .filter((violation) => violation.code === code)
      .slice(0, SHOWN)
      .map(({ id, line, message }, i) => [
        ...(i === 0 ? [code, formatCount(count)] : ["", ""]),
        ...[line === null ? "" : `line ${line}`, id ?? "", message],
      ]),
  );
  return [
    note(`${file}: ${plural(checked, "trajectory", "trajectories")} checked, ${found}.`),
    table("Violations", ["", { label: "", align: "right" }, "", "", ""], rows),
    ...unknownNotes(checked, unknown, origin),
    ...(recomputed === null ? [] : recomputedNotes(recomputed)),
  ];
}

function unknownNotes(
  checked: number,
  unknown: Readonly<Record<string, number>>,
  origin: string | null,
): Block[] {
  const codes = Object.keys(unknown);
  if (codes.length === 0) return [];
  const most = Math.max(...Object.values(unknown));
  const of = most === checked ? "any" : `up to ${formatCount(most)} of ${formatCount(checked)}`;
  const why =
    origin === null
      ? "no recipe.resolved.yaml or results.json lies beside the file; name --protocol, and --model for its tokenizer."
      : `read from ${origin}; tokens are read by --model, and strategies with prompts of their own keep to no protocol.`;
  return [note(`Not checked, of ${of}: ${codes.join(", ")} (${why})`)];
}

function recomputedNotes({
  trajectories,
  tokens,
  left,
  otherwiseDrawn,
  largest,
  mean,
}: NonNullable<LintOutcome["recomputed"]>): Block[] {
  const out: [number, string][] = [
    [left.scripted, "by a script"],
    [left.otherWeights, "by other weights"],
    [left.otherModel, "by another model"],
    [left.tooLong, "longer than the model's context"],
  ];
  const calls = out.flatMap(([count, why]) => (count > 0 ? [`${formatCount(count)} ${why}`] : []));
  const of = (count: number): string => plural(count, "trajectory", "trajectories");
  const apart =
    tokens === 0
      ? ""
      : `: at most ${formatTiny(largest)} nats apart, ${formatTiny(mean)} in the mean`;
  return [
    note(
      `Log-probabilities of ${plural(tokens, "token")} in ${of(trajectories)} computed again${apart}.`,
    ),
    ...(calls.length === 0 ? [] : [note(`messages left out: ${calls.join(", ")}`)]),
    ...(otherwiseDrawn === 0
      ? []
      : [
          note(
            `${of(otherwiseDrawn)} left out: sampled by matrices of fewer bits than float32, or at a temperature that is not on record`,
          ),
        ]),
  ];
}

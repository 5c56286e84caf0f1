import { fixed, plural, rounded, shorten } from "../base/format.ts";
import { renderText } from "../base/table.ts";
import type {
  CheckedCase,
  CheckedReward,
  RewardCheck,
} from "../evaluate/reward-check/check-rewards.ts";
import type { RewardCheckFacts } from "../run/check-rewards.ts";
import { REWARD_CASES } from "../rewards/expectations.ts";

/** A check in one line, for the notes of a training. */
export function rewardCheckLine(facts: RewardCheckFacts): string {
  const { trajectories, withoutAnswering, notApplicable } = facts;
  if (notApplicable !== undefined) return `rewards not checked: ${notApplicable}`;
  const played = plural(trajectories, "scripted rollout");
  return `rewards checked on ${played}; ${withoutAnsweringText(withoutAnswering)}`;
}

/**
 * A check as text: a row per case with each reward's declared and actual value, the errors, and the combined reward.
 * @param expression the recipe's `reward`, which reads rewards by their names; undefined: the weighted sum.
 */
export function rewardCheckText(where: string, check: RewardCheck, expression?: string): string {
  const { rewards, questions, trajectories, notApplicable } = check;
  if (notApplicable !== undefined) return `${where}: rewards not checked: ${notApplicable}`;
  const wrong = wrongLines(rewards);
  return [
    `${where}: ${plural(questions, "question")}, ${plural(trajectories, "trajectory", "trajectories")} played`,
    ...(expression === undefined ? [] : [`reward: ${expression}`]),
    renderText({
      columns: [
        "case",
        ...rewards.flatMap(({ name, weight }) => [
          headOf(name, weight, expression),
          { label: "got", align: "right" as const },
          "",
        ]),
      ],
      rows: (rewards[0]?.cases ?? []).map((row, i) => [
        row.case,
        ...rewards.flatMap(({ cases }) => cellsOf(cases[i])),
      ]),
    }),
    ...(wrong.length > 0 ? [wrong.join("\n")] : []),
    closingLines(check).join("\n"),
  ].join("\n\n");
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

function wrongLines(rewards: readonly CheckedReward[]): string[] {
  return rewards.flatMap(({ name, cases }) =>
    cases.flatMap(({ failed, case: at, expected }) => {
      if (failed === null) return [];
      const got = failed.value === null ? "no score" : rounded(failed.value);
      const answer =
        failed.answer === null ? "no answer" : shorten(JSON.stringify(failed.answer), 41);
      return [
        `${name}, ${at} (${REWARD_CASES[at].summary}):`,
        `  question ${failed.question}: ${got} for ${answer}, expected ${String(expected)}`,
      ];
    }),
  );
}

/** Rewards that could not be checked, and the reward without an answer. */
function closingLines({ rewards, notWritten, combined, withoutAnswering }: RewardCheck): string[] {
  const unscored = rewards.flatMap(({ name, unscored: why }) =>
    why === undefined ? [] : [`${name} could not be checked: ${why}`],
  );
  const notPossible =
    notWritten.length > 0 ? [`This protocol cannot write: ${notWritten.join(", ")}.`] : [];
  if (combined !== null && !combined.ok) {
    const { golden, most } = combined;
    const pays = `The combined reward is ${rounded(most.value)} in case ${most.case}, and ${rounded(golden)} for an accepted answer: WRONG.`;
    return [...unscored, ...notPossible, pays];
  }
  const free = withoutAnsweringText(withoutAnswering);
  return [...unscored, ...notPossible, `${free.charAt(0).toUpperCase()}${free.slice(1)}.`];
}

function withoutAnsweringText(found: RewardCheck["withoutAnswering"]): string {
  if (found === null) return "a golden answer earns nothing";
  if (found.share <= 0) return "a policy that does not answer earns nothing";
  return `a policy that does not answer earns up to ${fixed(1)(100 * found.share)} % of the reward (${found.case})`;
}

function cellsOf(checked: CheckedCase | undefined): string[] {
  if (checked === undefined) return ["", "", ""];
  const { expected, got, ok } = checked;
  const ends = got === null ? ["no score"] : [...new Set(got.map((end) => rounded(end)))];
  const given = ends.join(" … ");
  return expected === null ? ["any", given, ""] : [expected, given, ok ? "ok" : "WRONG"];
}

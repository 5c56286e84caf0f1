import type { CheckedCase, RewardCheck } from "../evaluate/reward-check/check-rewards.ts";
import type { RewardCheckFacts } from "../recipe/check-rewards.ts";
import { REWARD_CASES } from "../rewards/expectations.ts";
import { counted } from "./comparison-text.ts";
import { table } from "./table.ts";

/** A check in one line, for the notes of a training. */
export function rewardCheckLine({ trajectories, withoutAnswering }: RewardCheckFacts): string {
  const played = counted(trajectories, "scripted rollout");
  return `rewards checked on ${played}; ${withoutAnsweringText(withoutAnswering)}`;
}

/** A check for people: a row per case with what each reward was expected to give and gave; what went wrong; what is free. */
export function rewardCheckText(where: string, check: RewardCheck): string {
  const { rewards, questions, trajectories, withoutAnswering, notWritten } = check;
  const [first] = rewards;
  const rows = (first?.cases ?? []).map((row, i) => [
    row.case,
    ...rewards.flatMap(({ cases }) => cellsOf(cases[i])),
  ]);
  const heads = rewards.flatMap(({ name, weight }) => [
    weight === 1 ? name : `${name} × ${weight}`,
    "got",
    "",
  ]);
  const wrong = rewards.flatMap(({ name, cases }) =>
    cases.flatMap(({ failed, case: at, expected }) => {
      if (failed === null) return [];
      const got = failed.value === null ? "no score" : rounded(failed.value);
      return [
        `${name}, ${at} (${REWARD_CASES[at].summary}):`,
        `  question ${failed.question}: ${got} for ${shown(failed.answer)}, expected ${expected}`,
      ];
    }),
  );
  const kinds = rewards.flatMap(() => ["left", "right", "left"] as const);
  return [
    `${where}: ${counted(questions, "question")}, ${counted(trajectories, "trajectory", "trajectories")} played`,
    table(rows, { head: ["case", ...heads], align: ["left", ...kinds] }),
    ...(wrong.length > 0 ? [wrong.join("\n")] : []),
    [
      ...(notWritten.length > 0
        ? [`This protocol has no way to write: ${notWritten.join(", ")}.`]
        : []),
      `${capitalized(withoutAnsweringText(withoutAnswering))}.`,
    ].join("\n"),
  ].join("\n\n");
}

function withoutAnsweringText(found: RewardCheck["withoutAnswering"]): string {
  if (found === null) return "a golden answer earns nothing";
  if (found.share <= 0) return "without answering nothing is earned";
  return `without answering up to ${(100 * found.share).toFixed(1)} % of the reward is earned (${found.case})`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function cellsOf(checked: CheckedCase | undefined): string[] {
  if (checked === undefined) return ["", "", ""];
  const { expected, got, ok } = checked;
  return [expected, got === null ? "no score" : rangeText(got), ok ? "ok" : "WRONG"];
}

function rangeText([low, high]: readonly [number, number]): string {
  return low === high ? rounded(low) : `${rounded(low)} … ${rounded(high)}`;
}

/** @example rounded(0.6667) // "0.667"; rounded(1) // "1" */
function rounded(value: number): string {
  return String(Number(value.toFixed(3)));
}

function shown(answer: string | null): string {
  if (answer === null) return "no answer";
  const text = JSON.stringify(answer);
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}

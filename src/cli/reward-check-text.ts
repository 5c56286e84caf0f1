import { fixed, plural, rounded, shorten } from "../base/format.ts";
import { renderText } from "../base/table.ts";
import type { CheckedCase, RewardCheck } from "../evaluate/reward-check/check-rewards.ts";
import type { RewardCheckFacts } from "../recipe/check-rewards.ts";
import { REWARD_CASES } from "../rewards/expectations.ts";

/** A check in one line, for the notes of a training. */
export function rewardCheckLine({ trajectories, withoutAnswering }: RewardCheckFacts): string {
  const played = plural(trajectories, "scripted rollout");
  return `rewards checked on ${played}; ${withoutAnsweringText(withoutAnswering)}`;
}

/** A check for people: a row per case with what each reward was expected to give and gave, what went wrong, what is free. */
export function rewardCheckText(where: string, check: RewardCheck): string {
  const { rewards, questions, trajectories, withoutAnswering, notWritten } = check;
  const wrong = rewards.flatMap(({ name, cases }) =>
    cases.flatMap(({ failed, case: at, expected }) => {
      if (failed === null) return [];
      const got = failed.value === null ? "no score" : rounded(failed.value);
      const answer =
        failed.answer === null ? "no answer" : shorten(JSON.stringify(failed.answer), 41);
      return [
        `${name}, ${at} (${REWARD_CASES[at].summary}):`,
        `  question ${failed.question}: ${got} for ${answer}, expected ${expected}`,
      ];
    }),
  );
  const free = withoutAnsweringText(withoutAnswering);
  return [
    `${where}: ${plural(questions, "question")}, ${plural(trajectories, "trajectory", "trajectories")} played`,
    renderText({
      columns: [
        "case",
        ...rewards.flatMap(({ name, weight }) => [
          weight === 1 ? name : `${name} × ${weight}`,
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
    [
      ...(notWritten.length > 0 ? [`This protocol cannot write: ${notWritten.join(", ")}.`] : []),
      `${free.charAt(0).toUpperCase()}${free.slice(1)}.`,
    ].join("\n"),
  ].join("\n\n");
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
  return [expected, ends.join(" … "), ok ? "ok" : "WRONG"];
}

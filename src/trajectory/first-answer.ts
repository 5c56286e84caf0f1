import type { Trajectory } from "./trajectory.ts";

/** What opens an answer in every grammar. */
const OPENING = "<answer>";

/**
 * The share of what the policy wrote that stands before its first answer, in characters, because a server may keep its tokens: how long a reader waits.
 *
 * @returns from 0 to less than 1; null where no message opens an answer.
 * @example "<think>abc</think><answer>d</answer>" // 18 of 36 characters: .5
 */
export function firstAnswerAt({ turns }: Pick<Trajectory, "turns">): number | null {
  const written = turns.map(({ text }) => text).join("");
  const at = written.indexOf(OPENING);
  return at < 0 ? null : at / written.length;
}

import { z } from "../../base/schema.ts";
import { exactMatch } from "../../text/answers.ts";
import { isFunctionWord, mentionsIn, wordsOf } from "../../text/words.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Segment, Trajectory } from "../../trajectory/trajectory.ts";
import { defineGate } from "./define-step.ts";
import { mainTurns, shownAfter, shownBefore } from "./main-line.ts";

const options = z.strictObject({
  /**
   * What supports an answer. answer: it stands in what was shown. passages: all supporting passages of the question came back. An
   * answer that the question names, or yes and no, can only be supported by passages.
   */
  evidence: z.enum(["answer", "passages", "either"]).default("either"),
  /** What becomes of a trajectory where only passages could tell, and the dataset tells none. */
  unknown: z.enum(["drop", "keep"]).default("drop"),
});

/** Hints are no evidence: only what tools brought back is looked at, on the main line, as the policy was shown it. */
export const supported = defineGate({
  name: "supported",
  summary: "Drops answers that nothing which was shown supports.",
  options,
  why({ trajectory }, task, { textOf, settings: { evidence, unknown } }) {
    const { answer } = trajectory;
    if (answer === null) return "no answer";
    const sought = evidence === "passages" ? [] : namesToSeek(answer, task);
    if (sought.length > 0 && isShown(trajectory, sought, textOf)) return null;
    if (evidence === "answer" && sought.length > 0) return "answer not shown";
    const gold = task.annotations.supportingPassages;
    if (gold === undefined || gold.length === 0) {
      // An answer that could have been seen and was not is known to be without support.
      if (sought.length > 0) return "answer not shown";
      return unknown === "keep" ? null : "passages not known";
    }
    const returned = new Set(returnedIds(trajectory));
    if (gold.every((id) => returned.has(id))) return null;
    return sought.length > 0 ? "answer not shown" : "passages not returned";
  },
});

/** Names of the answer that show it wherever they stand: all references where it is one of them; none where the question names it. */
function namesToSeek(answer: string, { question, references }: Task): string[] {
  const names = exactMatch(answer, references) === 1 ? [answer, ...references] : [answer];
  const inQuestion = mentionsIn(question);
  if (names.some((name) => inQuestion(name))) return [];
  return names.filter((name) => !wordsOf(name).every(isFunctionWord));
}

function isShown(
  trajectory: Trajectory,
  names: readonly string[],
  textOf: (segment: Segment) => string,
): boolean {
  const shown = [shownBefore(trajectory), ...shownAfter(trajectory, textOf)];
  return shown.some((text) => names.some(mentionsIn(text)));
}

function returnedIds(trajectory: Trajectory): string[] {
  const found = [
    ...(trajectory.given ?? []),
    ...mainTurns(trajectory).flatMap(({ observations }) => observations),
  ];
  return found.flatMap(({ passageIds = [] }) => passageIds);
}

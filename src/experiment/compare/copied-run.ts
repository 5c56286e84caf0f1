import { firstNameIn } from "../../text/names.ts";
import { answerScores } from "../../evaluate/metrics/answer-metrics.ts";
import type { ComparedQuestion, ComparedRun } from "./compared-run.ts";

/** How `eval compare` names this baseline. */
export const COPY = "copy";

/** First words of a question that yes or no answers. */
const YES_NO = /^(?:is|are|was|were|am|do|does|did|has|have|had|can|could|will|would|should)\b/iu;

/**
 * A baseline without a model, on the questions of a run: yes where the question begins with a verb, else the first name in the question. Its
 * answers are scored by the answer metrics. Questions whose text or references the run lacks are left out.
 */
export function copiedRun({ questions }: ComparedRun): ComparedRun {
  const copied = [...questions.values()].flatMap(({ draws: _, ...asked }): ComparedQuestion[] => {
    const { question, references } = asked;
    if (question === null || references === null) return [];
    const answer = YES_NO.test(question.trim()) ? "yes" : firstNameIn(question);
    const scores = Object.entries(answerScores({ prediction: answer, references }));
    const values = Object.fromEntries(
      scores.flatMap(([name, value]) => (value === null ? [] : [[name, value] as const])),
    );
    return [{ ...asked, errors: 0, draws: [{ answer, values }] }];
  });
  const [first] = copied;
  return {
    name: COPY,
    questions: new Map(copied.map((each) => [each.id, each])),
    metrics: Object.keys(first?.draws[0]?.values ?? {}),
    fingerprint: null,
    protocol: null,
    facts: {},
  };
}

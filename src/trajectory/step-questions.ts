import type { SolutionStep } from "./task.ts";

/**
 * What each step asks, with the answers of earlier steps in place of #1, #2. A mark whose answer is not known stays.
 * @example birthplace of Ibsen (answer: Skien), mayor of #1 → birthplace of Ibsen, mayor of Skien
 */
export function stepQuestions(
  steps: readonly Pick<SolutionStep, "question" | "answer">[],
): string[] {
  return steps.map(({ question }) =>
    question.replace(/#(\d+)/g, (mark, number: string) => {
      const before = steps[Number(number) - 1]?.answer ?? "";
      return before === "" ? mark : before;
    }),
  );
}

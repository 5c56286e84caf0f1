import type { WorldReport } from "../../env/world-folder.ts";
import type { Task } from "../../trajectory/task.ts";
import { answerText, readPuzzle, solutionsOf } from "./puzzle.ts";

/** Verifies puzzles from their text: each can be read, and has exactly one solution, which is its reference. */
export function checkPuzzles(tasks: readonly Task[]): WorldReport {
  const problems = tasks.flatMap((task) => {
    const fault = faultOf(task);
    return fault === null ? [] : [{ where: task.id, ...fault }];
  });
  return { counts: { questions: tasks.length }, problems };
}

function faultOf({ question, references }: Task): { code: string; message: string } | null {
  const puzzle = readPuzzle(question);
  if (puzzle === null) return { code: "question-unreadable", message: "the text is no puzzle" };
  const [knights, ...others] = solutionsOf(puzzle);
  if (knights === undefined || others.length > 0) {
    const count = knights === undefined ? 0 : 1 + others.length;
    return { code: "solution-open", message: `the puzzle has ${count} solutions, not one` };
  }
  const answer = answerText(puzzle, knights);
  if (references.includes(answer)) return null;
  return { code: "answer-differs", message: `the statements give "${answer}"` };
}

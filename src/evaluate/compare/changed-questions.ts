import type { Side } from "./compared-run.ts";
import { meanOverRuns } from "./compare-sides.ts";
import { questionOf, sharedValues } from "./shared-questions.ts";

/** A question on which two sides differ by a metric. */
export interface ChangedQuestion {
  id: string;
  /** gained: the left side does better than the right one; lost: worse. */
  change: "gained" | "lost";
  metric: string;
  question: string | null;
  references: readonly string[] | null;
  hops?: string;
  type?: string;
  left: SideAnswers;
  right: SideAnswers;
}

/** What a side came to on one question. */
export interface SideAnswers {
  /** Mean over draws and runs. */
  value: number;
  /** Of every measured draw, run by run. */
  answers: (string | null)[];
}

/** The questions on which two sides differ, in order of their ids' appearance. */
export function changedQuestions(
  [left, right]: readonly [Side, Side],
  ids: readonly string[],
  metric: string,
): ChangedQuestion[] {
  const values = sharedValues(left, right, ids, metric);
  const [a, b] = [meanOverRuns(values.left), meanOverRuns(values.right)];
  return values.ids.flatMap((id, i): ChangedQuestion[] => {
    const [ours, theirs] = [a[i] ?? 0, b[i] ?? 0];
    if (ours === theirs) return [];
    const all = [...left.runs, ...right.runs].map((run) => questionOf(run, id));
    const { hops, type } = all[0] ?? {};
    return [
      {
        ...{ id, change: ours > theirs ? "gained" : "lost", metric },
        question: all.find(({ question }) => question !== null)?.question ?? null,
        references: all.find(({ references }) => references !== null)?.references ?? null,
        ...(hops === undefined ? {} : { hops }),
        ...(type === undefined ? {} : { type }),
        left: { value: ours, answers: answersOf(left, id) },
        right: { value: theirs, answers: answersOf(right, id) },
      },
    ];
  });
}

function answersOf({ runs }: Side, id: string): (string | null)[] {
  return runs.flatMap((run) => questionOf(run, id).draws.map(({ answer }) => answer));
}

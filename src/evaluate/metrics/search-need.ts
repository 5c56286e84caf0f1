/** Whether searches were needed, by comparison with runs of the same policy that could not search, or had to. */
import { normalizeAnswer } from "../../text/answer-normalizations.ts";
import type { EvaluationRow } from "../evaluation-row.ts";

/** The compared fields of a row. */
export type SearchNeedRow = Pick<EvaluationRow, "answer" | "em" | "searches">;

/** A draw in the measured run, and the same draw of the same question in the other runs. */
export interface SearchNeedCase {
  free: SearchNeedRow;
  /** From a run that could not search. */
  unaided?: SearchNeedRow;
  /** From a run that had to search. */
  forced?: SearchNeedRow;
}

/** A share with its number of draws; null without draws. */
export interface CountedShare {
  n: number;
  share: number | null;
}

export interface SearchNeed {
  /** Of the draws that searched, those whose answer without search is the same: the search changed nothing. */
  over_search_rate: CountedShare;
  /** Of the draws that searched, those answered rightly without search. */
  right_unaided_rate: CountedShare;
  /** Of the draws that searched, those wrong without search and right with it. */
  search_helped_rate: CountedShare;
  /** Of the draws that searched, those right without search and wrong with it. */
  search_hurt_rate: CountedShare;
  /** Of the draws that did not search, those answered wrongly; needs no other run. */
  under_search_rate: CountedShare;
  /** Of the draws that did not search and were wrong, those right when forced to search. */
  search_missed_rate: CountedShare;
}

/**
 * Over-search and under-search of a run.
 *
 * Source: β-GRPO, arXiv 2505.17281, whose rates count steps: search steps whose sub-question the model answers the same way without
 * what was retrieved, and wrong steps among those without search, both judged by a model. Different here: questions are counted,
 * and no judge is needed. Answers are the same when equal after the "squad" normalisation; right is em 1.
 *
 * @param cases draws that all their runs measured.
 * @example searchNeed([{ free: { answer: "x", em: 1, searches: 2 }, unaided: { answer: "x", em: 1, searches: 0 } }])
 * // over_search_rate { n: 1, share: 1 }
 */
export function searchNeed(cases: Iterable<SearchNeedCase>): SearchNeed {
  const counts = {
    over_search_rate: counter(),
    right_unaided_rate: counter(),
    search_helped_rate: counter(),
    search_hurt_rate: counter(),
    under_search_rate: counter(),
    search_missed_rate: counter(),
  };
  for (const { free, unaided, forced } of cases) {
    const right = free.em === 1;
    if (free.searches === 0) {
      counts.under_search_rate.add(!right);
      if (forced !== undefined && !right) counts.search_missed_rate.add(forced.em === 1);
    } else if (unaided !== undefined) {
      const rightUnaided = unaided.em === 1;
      counts.over_search_rate.add(normal(free.answer) === normal(unaided.answer));
      counts.right_unaided_rate.add(rightUnaided);
      counts.search_helped_rate.add(right && !rightUnaided);
      counts.search_hurt_rate.add(!right && rightUnaided);
    }
  }
  const shares = Object.entries(counts).map(([name, { share }]) => [name, share()] as const);
  return Object.fromEntries(shares) as unknown as SearchNeed;
}

/** Two missing answers count as equal. */
function normal(answer: string | null): string | null {
  return answer === null ? null : normalizeAnswer(answer);
}

function counter(): { add: (holds: boolean) => void; share: () => CountedShare } {
  let n = 0;
  let held = 0;
  return {
    add: (holds) => {
      n += 1;
      held += Number(holds);
    },
    share: () => ({ n, share: n === 0 ? null : held / n }),
  };
}

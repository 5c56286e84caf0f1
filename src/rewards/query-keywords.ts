import { mean } from "../base/statistics.ts";
import { tokenF1 } from "../text/answers.ts";
import { type TaskAnnotations, stepQuestions } from "../trajectory/task.ts";
import { searchQueries } from "../trajectory/trajectory.ts";
import { defineReward } from "./reward.ts";

/**
 * How well the policy's queries cover the steps of the question: for each step the best word F1 of any query with any reference query, averaged
 * over the steps. Reference queries are `annotations.searchTerms` (the annotation `search-terms` of synth-data finds them), else the
 * step's own question, or relation and subject of its triple. A task without steps cannot be scored.
 *
 * Source: StepSearch, arXiv 2505.15107, section 3.3, weight .618. Different here: its code credits a query to the step alone that it fits best,
 * and a later query replaces an earlier one of the same step even if it fits worse; the paper takes the best, and so does this.
 *
 * @example steps "mayor of Oslo" and "birthplace of Ibsen", the only query "mayor Oslo": F1 .8 and 0, so .4
 */
export const queryKeywords = defineReward({
  name: "query-keywords",
  summary: "Word F1 of the best query with each step's reference queries, averaged over steps.",
  range: [0, 1],
  source: "StepSearch, arXiv 2505.15107, search key reward",
  score: ({ trajectory, task }) => {
    const steps = referenceQueries(task.annotations);
    if (steps.length === 0) return null;
    const queries = searchQueries(trajectory);
    return mean(
      steps.map((references) =>
        queries.reduce((best, query) => Math.max(best, tokenF1(query, references)), 0),
      ),
    );
  },
});

/** Queries that would find what each step needs, [steps][queries]; steps without any are left out. */
function referenceQueries(annotations: TaskAnnotations): (readonly string[])[] {
  const { searchTerms, decomposition = [], evidences = [] } = annotations;
  const asked =
    decomposition.length > 0
      ? stepQuestions(decomposition)
      : evidences.map(({ subject, relation }) => `${relation} of ${subject}`);
  return (searchTerms ?? asked.map((each) => [each])).filter(({ length }) => length > 0);
}

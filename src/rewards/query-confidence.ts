import { type Turn, isSearch } from "../trajectory/trajectory.ts";
import { defineReward } from "./reward.ts";

/**
 * The smallest probability with which the policy sampled a token of its queries, over all searches that were run. A trajectory without a search
 * gets 1: it has no uncertain query. One whose sampling is not on record cannot be scored.
 *
 * Source: C(T) of Beta-GRPO, arXiv 2505.17281, which pays EM only where C(T) > β: `reward: em * (confidence > 0.4)`. The paper does not say
 * what C(T) is without a search, nor at what temperature; here it is that of the sampling.
 */
export const queryConfidence = defineReward({
  name: "query-confidence",
  summary: "Smallest probability of a token in the policy's queries; 1 without a search.",
  range: [0, 1],
  source: "Beta-GRPO, arXiv 2505.17281",
  score: ({ trajectory }, _, { sampled }) => {
    const queries = trajectory.turns.flatMap((turn, at) =>
      querySpans(turn).map((span) => span && sampled(trajectory, at, span)),
    );
    const known = queries.filter((each) => each !== null);
    if (known.length < queries.length) return null;
    return Math.exp(known.flat().reduce((least, each) => Math.min(least, each), 0));
  },
});

/**
 * Where the queries of a turn's searches stand in its text. A message is read up to its last action, so the last place counts. null for a
 * query that the text spells differently, such as one with escapes in JSON.
 */
function querySpans({ text, actions, observations }: Turn): ([from: number, to: number] | null)[] {
  const asked = actions.filter(({ tool }) => tool !== "answer");
  let end = text.length;
  const spans = asked.toReversed().map(({ input }): [number, number] | null => {
    if (input.length > end) return null;
    const from = text.lastIndexOf(input, end - input.length);
    if (from < 0) return null;
    end = from;
    return [from, from + input.length];
  });
  const searched = observations.map(isSearch);
  return spans.toReversed().filter((_, i) => asked[i]?.input !== "" && searched[i]);
}

import { z } from "../../base/schema.ts";
import { GREEDY } from "../../rollout/sampling.ts";
import { defineSampler } from "./sampler.ts";
import { shuffled } from "./shuffled.ts";

/** The groups of `shuffled`, each with one greedy rollout more, which is scored and not trained. */
export const greedyBaseline = defineSampler({
  name: "greedy-baseline",
  summary: "Every task once per pass, with one greedy rollout per group for the baseline (ReMax).",
  source: "ReMax, arXiv 2310.10505",
  givesBaselines: true,
  options: z.strictObject({}),
  open: (given, context, state) => {
    const sampler = shuffled.open(given, context, state);
    return {
      ...sampler,
      next: (step, history) =>
        sampler
          .next(step, history)
          .flatMap((request) => [
            request,
            {
              ...request,
              first: request.rollouts,
              rollouts: 1,
              purpose: "baseline",
              sampling: GREEDY,
            },
          ]),
    };
  },
});

import { z } from "../../base/schema.ts";
import { isRight, rightShape } from "./correct.ts";
import { defineStep } from "./define-step.ts";

const options = z
  .strictObject({
    /** Name of the draw that is counted; absent: all. */
    draw: z.string().min(1).optional(),
    /** Shares of right candidates that a question may have, both included. */
    min: z.number().min(0).max(1).default(0),
    max: z.number().min(0).max(1).default(1),
    ...rightShape,
  })
  .refine(({ min, max }) => min <= max, { path: ["max"], message: "expected no less than min" });

/**
 * Difficulty, as the teacher's own share of right answers, is given to all candidates of a question as the score `pass-rate`. It must
 * see what is wrong too: put it before gates that drop that.
 */
export const passRate = defineStep({
  name: "pass-rate",
  kind: "filter",
  summary: "Keeps questions that a share of the draws gets right, and tells the share as a score.",
  source:
    "CoRT, arXiv 2506.09820: problems that 1 of 8 draws solves; SwS, arXiv 2506.08989, and Tool-Star, arXiv 2505.16410: difficulty",
  options,
  open: (settings) => ({
    apply({ task, candidates }) {
      const { draw, min, max } = settings;
      const verdicts = candidates
        .filter(({ provenance }) => draw === undefined || provenance.draw.name === draw)
        .map((each) => isRight(each, task, settings))
        .filter((verdict) => verdict !== null);
      const all = (reason: string) => ({
        kept: [],
        dropped: candidates.map(({ id }) => ({ id, reason })),
      });
      if (verdicts.length === 0) return all("not scored");
      const rate = verdicts.filter(Boolean).length / verdicts.length;
      if (rate < min) return all("too hard");
      if (rate > max) return all("too easy");
      const kept = candidates.map((each) => ({
        ...each,
        scores: { ...each.scores, "pass-rate": rate },
      }));
      return { kept, dropped: [] };
    },
  }),
});

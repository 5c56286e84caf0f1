import { z } from "../../base/schema.ts";
import { isRight, rightShape } from "./correct.ts";
import { defineStep, sortedOut } from "./define-step.ts";

const options = z
  .strictObject({
    /** Name of the draw whose candidates are kept. */
    draw: z.string().min(1),
    /** Name of the draw that must not solve the question. */
    not: z.string().min(1),
    ...rightShape,
  })
  .refine(({ draw, not }) => draw !== not, {
    path: ["not"],
    message: "expected another draw than the one that is kept",
  });

/**
 * It must see what both draws made of a question: put it before gates that drop what is wrong. A question that the other draw has no
 * candidate for is not known to be beyond it.
 */
export const solvedOnlyBy = defineStep({
  name: "solved-only-by",
  kind: "filter",
  summary: "Keeps what one draw got right of the questions that another did not solve.",
  source:
    "START, arXiv 2503.04625: active selection, problems that Hint-infer solves and greedy decoding does not",
  options,
  open: (settings) => ({
    apply({ task, candidates }) {
      const others = candidates.filter(({ provenance }) => provenance.draw.name === settings.not);
      const solved = others.some((each) => isRight(each, task, settings) === true);
      return sortedOut(candidates, (candidate) => {
        const { name } = candidate.provenance.draw;
        if (name === settings.not) return "compared with";
        if (name !== settings.draw) return "another draw";
        if (others.length === 0) return "nothing to compare with";
        if (solved) return "solved by both";
        return isRight(candidate, task, settings) === true ? null : "wrong answer";
      });
    },
  }),
});

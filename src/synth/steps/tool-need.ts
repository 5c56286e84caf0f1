import { z } from "../../base/schema.ts";
import { isRight, rightShape } from "./correct.ts";
import { defineStep, sortedOut } from "./define-step.ts";

const options = z
  .strictObject({
    /** Name of the draw that answers without tools. */
    direct: z.string().min(1),
    /** Name of the draw that may call them. */
    tool: z.string().min(1),
    ...rightShape,
  })
  .refine(({ direct, tool }) => direct !== tool, {
    path: ["tool"],
    message: "expected another draw than the direct one",
  });

/**
 * Where any direct answer is right, right direct ones stay; else right ones with tools; a question that neither solves is left for
 * reinforcement learning. It must see what is wrong too: put it before gates that drop that.
 */
export const toolNeed = defineStep({
  name: "tool-need",
  kind: "filter",
  summary:
    "Keeps answers without tools where they suffice, and answers with tools where they do not.",
  source: "Tool-Star, arXiv 2505.16410: difficulty-aware split of the cold start",
  options,
  open: (settings) => ({
    apply({ task, candidates }) {
      const right = new Set(candidates.filter((each) => isRight(each, task, settings) === true));
      const solvedBy = (draw: string): boolean =>
        [...right].some(({ provenance }) => provenance.draw.name === draw);
      const keeps = [settings.direct, settings.tool].find(solvedBy);
      return sortedOut(candidates, (candidate) => {
        const { name } = candidate.provenance.draw;
        if (name !== settings.direct && name !== settings.tool) return "another draw";
        if (keeps === undefined) return "solved by neither";
        if (!right.has(candidate)) return "wrong answer";
        return name === keeps ? null : "tools not needed";
      });
    },
  }),
});

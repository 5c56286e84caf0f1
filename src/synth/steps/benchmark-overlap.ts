import { z } from "../../base/schema.ts";
import { benchmarkQuestions } from "../overlap/benchmark-questions.ts";
import { defineStep } from "./define-step.ts";

const options = z.strictObject({
  /** Files of benchmark questions, in any layout that datasets are read in. */
  files: z.array(z.string().min(1)).min(1),
  /** Words in a row that are compared; fewer for short questions. */
  words: z.int().min(3).default(8),
  /** Share of a benchmark question's rows of words that make an overlap. */
  share: z.number().gt(0).max(1).default(0.5),
});

export const benchmarkOverlap = defineStep({
  name: "benchmark-overlap",
  kind: "filter",
  summary: "Drops questions that are those of benchmarks, word for word or nearly.",
  source:
    "8-gram overlap, Tülu 3, arXiv 2411.15124; names and numbers, and shorter rows for short questions, are ours",
  options,
  async open({ files, ...settings }) {
    const benchmark = await benchmarkQuestions(files, settings);
    return {
      apply({ task, candidates }) {
        const meets = benchmark.meets(task.question);
        if (meets === null) return { kept: candidates, dropped: [] };
        const reason = `benchmark: ${meets}`;
        return { kept: [], dropped: candidates.map(({ id }) => ({ id, reason })) };
      },
    };
  },
});

import { defineMetric } from "agentrl";

export default defineMetric({
  name: "answer-words",
  summary: "Words of the answer.",
  range: [0, Infinity],
  // `row` is the row of the evaluation; `trajectory` and `task` are there as well. null: does not apply.
  score: ({ row }) => row.answer?.split(/\s+/).length ?? null,
});

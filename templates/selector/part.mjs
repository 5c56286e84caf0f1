import { defineSelector, z } from "agentrl";

export default defineSelector({
  name: "shortest",
  summary: "Keeps the shortest trajectories.",
  options: z.strictObject({ count: z.int().min(1).default(100) }),
  // Each sample must be in one of the two lists. The written file has the order of `kept`.
  select(samples, { count }) {
    const sorted = samples.toSorted((a, b) => a.length - b.length);
    return {
      kept: sorted.slice(0, count),
      dropped: sorted.slice(count).map(({ id }) => ({ id, reason: "longer" })),
    };
  },
});

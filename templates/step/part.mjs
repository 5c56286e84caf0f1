import { defineStep, z } from "agentrl";

export default defineStep({
  name: "few-turns",
  summary: "Drops trajectories of many turns.",
  options: z.strictObject({ most: z.int().min(1).default(3) }),
  open: ({ most }) => ({
    // All draws of one question that the earlier steps kept.
    apply({ candidates }) {
      const isShort = ({ trajectory }) => trajectory.turns.length <= most;
      return {
        kept: candidates.filter(isShort),
        dropped: candidates
          .filter((each) => !isShort(each))
          .map(({ id }) => ({ id, reason: "many turns" })),
      };
    },
  }),
});

import { defineFilter, mean, scoresOf, z } from "agentrl";

export default defineFilter({
  name: "not-solved",
  summary: "Leaves out groups whose mean reward is above a limit.",
  options: z.strictObject({ atMost: z.number().default(0.9) }),
  keep: (groups, { atMost }) => groups.filter((group) => mean(scoresOf(group, null)) <= atMost),
});

import { defineStrategy, rollOut, z } from "agentrl";

export default defineStrategy({
  name: "search-then-agent",
  summary: "Searches with the question first, then a few turns of the agent.",
  // One sequence that grows turn by turn: what it samples can be trained on.
  prompts: "grows",
  searches: true,
  needs: ["searching", "answers"],
  options: z.strictObject({ turns: z.int().min(0).default(1) }),
  run: (rollout, { turns }) => rollOut(rollout, { searchFirst: true, maxTurns: turns }),
});

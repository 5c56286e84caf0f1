import { defineAlgorithm, onPolicyShape, z } from "agentrl";

export default defineAlgorithm({
  name: "plain-clip",
  summary: "The clipped loss against the mean of the group's other trajectories, without KL.",
  // Every algorithm has the options of the training loop.
  options: z.strictObject({ ...onPolicyShape, clip: z.number().min(0).max(1).default(0.2) }),
  estimator: { name: "leave-one-out", options: {} },
  // Several losses are added up; each is a part with its options.
  losses: ({ clip }) => [
    { name: "policy-gradient", options: { ratio: "token", clipLow: clip, clipHigh: clip } },
  ],
});

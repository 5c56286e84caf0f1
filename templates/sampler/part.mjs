import { defineSampler, groupRequest, z } from "agentrl";

export default defineSampler({
  name: "in-order",
  summary: "The tasks in the order of the dataset, from the start again after the last.",
  options: z.strictObject({ skip: z.int().min(0).default(0) }),
  open({ skip }, context) {
    const { tasks, promptsPerStep } = context;
    const taskAt = (place) => tasks[(skip + place) % tasks.length];
    return {
      next: (step) =>
        Array.from({ length: promptsPerStep }, (_, p) =>
          groupRequest(context, taskAt(step * promptsPerStep + p), step, p),
        ),
      accept: (groups) => ({ batch: groups, more: [] }),
      // The step's number is enough to continue after --resume.
      state: () => null,
    };
  },
});

import { defineReward, z } from "agentrl";

export default defineReward({
  name: "few-words",
  summary: "1 for an answer of few words, else 0.",
  range: [0, 1],
  options: z.strictObject({ maxWords: z.int().min(1).default(5) }),
  score({ trajectory }, { maxWords }) {
    // No answer: 0, not null. null means that it cannot be scored.
    const words = (trajectory.answer ?? "").split(/\s+/).filter((word) => word !== "");
    return words.length > 0 && words.length <= maxWords ? 1 : 0;
  },
});

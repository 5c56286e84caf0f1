import { defineDataset, z } from "agentrl";

const CAPITALS = { Norway: "Oslo", France: "Paris", Japan: "Tokyo", Peru: "Lima" };

export default defineDataset({
  name: "capital-cities",
  summary: "Capitals of countries, with a passage about each.",
  // Increase it when a change of this file changes a question or a passage.
  version: 1,
  options: z.strictObject({ questions: z.int().min(1).default(4) }),
  open: ({ questions }) => ({
    // Called again for each pass over the questions.
    *stream() {
      for (const [country, capital] of Object.entries(CAPITALS).slice(0, questions)) {
        yield {
          id: country,
          question: `What is the capital of ${country}?`,
          references: [capital],
        };
      }
    },
    passages: () =>
      Object.entries(CAPITALS).map(([country, capital]) => {
        return { id: country, title: country, text: `The capital of ${country} is ${capital}.` };
      }),
  }),
});

import { defineTool, stateless, z } from "agentrl";

export default defineTool({
  name: "count-letters",
  summary: "The number of letters in a text.",
  description: "Counts the letters of a text.",
  parameters: z.object({ text: z.string() }),
  options: z.strictObject({ maxLength: z.int().min(1).default(1000) }),
  create: ({ maxLength }) => ({
    open: () =>
      stateless(({ text }) => {
        if (text.length > maxLength) {
          // The policy reads a problem as an observation. A thrown error would end the run.
          const message = `The text is longer than ${maxLength}.`;
          return { text: message, problem: { code: "too-long", message } };
        }
        return { text: String([...text].filter((sign) => /\p{L}/u.test(sign)).length) };
      }),
  }),
});

import { defineHint, z } from "agentrl";

export default defineHint({
  name: "opening-thought",
  summary: "Begins the first message with a text.",
  where: "start of the first message",
  options: z.strictObject({ text: z.string().default("<think> I should search.") }),
  // Opened for each rollout. `afterPrompt` and `interject` put text at other places.
  open: ({ text }) => ({ prefill: ({ turn }) => (turn === 0 ? text : null) }),
});

import { defineTeacher, textAfter } from "agentrl";

export default defineTeacher({
  name: "one-search",
  summary: "Searches with the question once, then answers with the first reference.",
  // Called once for a run; the function that it returns writes each message.
  open: () => (place) => {
    const { task, turns, tools, prefill } = place;
    const action =
      turns.length === 0
        ? { tool: tools[0]?.function.name ?? "search", input: task.question }
        : { tool: "answer", input: task.references[0] ?? "" };
    return textAfter(prefill, { thought: "", action }, place);
  },
});

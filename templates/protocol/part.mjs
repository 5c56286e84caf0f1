import { defineProtocol, z } from "agentrl";

export default defineProtocol({
  name: "brackets",
  summary: "Calls and answers in double brackets: [[search: query]], [[answer: text]].",
  source: "my own",
  options: z.strictObject({ pick: z.enum(["first", "last"]).default("last") }),
  create({ pick }, { tools }) {
    const shown = (observation) => `\n{{${observation.text}}}\n`;
    return {
      stopStrings: ["]]"],
      findCut(text) {
        const end = text.indexOf("]]");
        return end < 0 ? null : end + 2;
      },
      // Must not throw: what the policy wrote wrongly is a problem.
      parse(text) {
        const match = /\[\[([\w-]+): (.*?)\]\]/s.exec(text);
        if (match === null)
          return { actions: [], problems: [{ code: "no-action", message: "no brackets" }] };
        return { actions: [{ tool: match[1], input: match[2].trim() }], problems: [] };
      },
      tags: [],
      write: ({ thought, action }) => `${thought}[[${action.tool}: ${action.input}]]`,
      renderObservations: (observations) => observations.map(shown).join(""),
      renderProblems: () => "\nWrite [[answer: your answer]].\n",
      renderContext: shown,
      instructions: () =>
        [...tools.map((tool) => tool.function.name), "answer"]
          .map((name) => `[[${name}: your text]]`)
          .join(" or "),
      answerOpening: "[[answer: ",
      answerRequest: "\nAnswer now.",
      answer: { scope: "response", pattern: "\\[\\[answer: (.*?)\\]\\]", pick, atLeast: 1 },
    };
  },
});

import { questionAnswering } from "./question-answering.ts";

/** Questions answered by searching a corpus, unless a recipe names other tools. */
export const searchQa = questionAnswering({
  name: "search-qa",
  summary: "Questions answered by searching a corpus over several turns.",
  protocol: "search-r1",
  tools: ["corpus-search"],
  act: "<search>capital Norway</search>",
});

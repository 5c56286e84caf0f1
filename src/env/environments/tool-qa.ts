import type { Player } from "./environment.ts";
import { questionAnswering } from "./question-answering.ts";

/**
 * Calls the first tool with a part of the question, sometimes all of it, or guesses a word of it; then answers with what came back. What
 * it does is well formed and seldom right: reinforcement has to find out which part to ask for.
 */
const player: Player = ({ task, turns, tools }, draw) => {
  const [tool = "answer"] = tools;
  const last = turns.at(-1)?.observations.at(-1);
  if (last !== undefined && last.problem === undefined) {
    return { thought: "", action: { tool: "answer", input: last.text } };
  }
  const words = task.question.split(" ");
  if (last === undefined && draw.next() < 0.3)
    return { thought: "", action: { tool: "answer", input: draw.pick(words) } };
  const end = draw.next() < 0.3 ? words.length : 1 + draw.int(words.length);
  return { thought: "", action: { tool, input: words.slice(0, end).join(" ") } };
};

/** Questions answered with tools and without a corpus: computing, unless a recipe names other tools. */
export const toolQa = questionAnswering({
  name: "tool-qa",
  summary: "Questions answered with tools other than search over several turns.",
  protocol: "tags",
  tools: ["calculator"],
  act: "<calculator> 2 + 3</calculator>",
  player,
  words: [
    ...Array.from({ length: 100 }, (_, number) => ` ${number}`),
    ...["+", "-", "*", "/", "^", "(", ")"].map((sign) => ` ${sign}`),
  ],
});

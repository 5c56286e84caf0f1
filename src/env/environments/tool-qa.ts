import type { Player } from "./environment.ts";
import { questionAnswering } from "./question-answering.ts";

const PLAYER = { whole: 0.3, ignores: 0.6 };

/** Calls the first tool with the question's beginning, then answers with the result or any word: well formed, seldom right, to be learned. */
const player: Player = ({ task, turns, tools }, draw) => {
  const [tool = "answer"] = tools;
  const words = task.question.split(" ");
  const last = turns.at(-1)?.observations.at(-1);
  if (last !== undefined && last.problem === undefined) {
    const input = draw.next() < PLAYER.ignores ? draw.pick(words) : last.text;
    return { thought: "", action: { tool: "answer", input } };
  }
  const end = draw.next() < PLAYER.whole ? words.length : 1 + draw.int(words.length);
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

import { z } from "../../base/schema.ts";
import { withPrompts } from "../prompt-session.ts";
import { numbered, passagesIn, type ShownPassage, withNew } from "../../trajectory/passages.ts";
import { firstLine, sentencesOf } from "../sentences.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** Most sentences of reasoning. */
  steps: z.int().min(1).default(8),
  /** Most passages; the first found are kept. */
  passages: z.int().min(1).default(15),
});

/** Each sentence of reasoning from all passages so far is the next query; "answer is" ends the loop, else an answer is forced. */
export const ircot = defineStrategy({
  name: "ircot",
  summary: "IRCoT: one sentence of reasoning at a time, each the next search; passages add up.",
  source:
    "Trivedi et al., arXiv 2212.10509, section 3. Different here: no examples in the prompt, and its answer is the chain's own, not a second reader's",
  prompts: "own",
  searches: true,
  needs: ["searching", "answers"],
  options,
  example: { search: "Norway has much rain.", answer: "So the answer is: Oslo." },
  run: (rollout, { steps, passages: limit }) =>
    withPrompts(rollout, async (session) => {
      const { question } = rollout.task;
      let passages: ShownPassage[] = [];
      const look = async (query: string, turn: number | null): Promise<void> => {
        passages = withNew(passages, passagesIn(await session.search(query, turn)), limit);
      };
      await look(question, null);
      const thoughts: string[] = [];
      for (let step = 0; step < steps; step++) {
        const message = await session.ask(promptOf(question, passages, thoughts));
        if (message === null) return null;
        const line = firstLine(message.text);
        const known = answerOf(line) ?? session.answerIn(line);
        if (known !== null) return known;
        const [sentence] = sentencesOf(message.text);
        if (sentence === undefined) break;
        thoughts.push(sentence);
        if (step < steps - 1) await look(sentence, message.turn);
      }
      return session.answer(`${promptOf(question, passages, thoughts)}\n`);
    }),
});

function promptOf(
  question: string,
  passages: readonly ShownPassage[],
  thoughts: readonly string[],
): string {
  return [
    numbered(passages),
    "Reason towards the answer of the question, one sentence at a time, each with one fact from the passages. As soon as the answer is known, write: So the answer is: …",
    `Question: ${question}`,
    ["Thoughts:", ...thoughts].join(" "),
  ]
    .filter((part) => part !== "")
    .join("\n");
}

/** The text after "answer is" in the first sentence; a later sentence needs another search first. */
function answerOf(line: string): string | null {
  const [sentence = ""] = sentencesOf(line);
  if (!/answer is/i.test(sentence)) return null;
  const answer = /answer is:?\s*(.+)$/is.exec(sentence)?.[1] ?? "";
  const bare = answer.trim().replace(/\.$/, "");
  return bare === "" ? null : bare;
}

import { parseOptions, z } from "../../base/schema.ts";
import { likelihoodOf, type SampleScorer, scoringTeacher } from "./scorer.ts";

const options = z.strictObject({
  /** What the model is asked; {question} is filled in. It is to be answered by 1 (difficult) or 0. */
  prompt: z
    .string()
    .refine((text) => text.includes("{question}"), "expected {question} somewhere in it")
    .default(
      "Judge how difficult a question is to answer. Write 1 if it is difficult, needing several steps or facts that must be looked up, and 0 if it is not.\nQuestion: {question}\nJudgement:",
    ),
});

/** Questions whose judgement is remembered: those of which draws are scored at the same time. */
const REMEMBERED = 256;

/**
 * How difficult the teacher's model holds a question, seen without its answer: P("1") / (P("1") + P("0")) as the beginning of its
 * reply. One number for all draws of a question.
 *
 * Different here: the judge is the teacher's own model and the prompt in our words; both probabilities are asked for, where the code
 * looks among the two likeliest tokens and counts one that is not there as 0. A digit that is several tokens is taken whole.
 *
 * @example P("1") = 0.3, P("0") = 0.1 → 0.75
 */
export const difficulty: SampleScorer = {
  name: "difficulty",
  summary: "How difficult the teacher's model holds the question, from 0 to 1.",
  source: "Select2Reason, arXiv 2505.17266; IDEA-FinAI/Select2Reason",
  gives: ["difficulty"],
  options,
  open(given, { policy }) {
    const { prompt } = parseOptions(options, given, "difficulty");
    const judge = scoringTeacher(policy, "difficulty");
    const { tokenizer, rendering } = judge;
    const judged = new Map<string, Promise<Record<string, number>>>();
    const ask = async (question: string): Promise<Record<string, number>> => {
      // Not as a replacement pattern: a question may hold "$&".
      const asked = prompt.replaceAll("{question}", () => question);
      const promptIds = tokenizer.encodeStart(rendering?.opening(asked) ?? asked);
      const difficult = await likelihoodOf(judge, promptIds, "1");
      const easy = await likelihoodOf(judge, promptIds, "0");
      if (difficult === null || easy === null) return {};
      return { difficulty: 1 / (1 + Math.exp(easy.sum - difficult.sum)) };
    };
    return {
      score({ question }, _trajectory, signal) {
        signal.throwIfAborted();
        let judgement = judged.get(question);
        if (judgement === undefined) {
          judgement = ask(question);
          judged.set(question, judgement);
          const [oldest] = judged.keys();
          if (judged.size > REMEMBERED && oldest !== undefined) judged.delete(oldest);
        }
        return judgement;
      },
    };
  },
};

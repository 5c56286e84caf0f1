import { z } from "../../base/schema.ts";
import { defineScorer, likelihoodOf, scoringTeacher } from "./scorer.ts";

const options = z.strictObject({
  /** The prompt, with {question} as a placeholder. The model must answer 1 (difficult) or 0. */
  prompt: z
    .string()
    .refine((text) => text.includes("{question}"), "expected {question} somewhere in it")
    .default(
      "Judge how difficult a question is to answer. Write 1 if it is difficult, needing several steps or facts that must be looked up, and 0 if it is not.\nQuestion: {question}\nJudgement:",
    ),
});

/** Questions whose score is cached: enough for all draws that are scored at the same time. */
const REMEMBERED = 256;

/**
 * Difficulty of a question in the teacher's judgement, without its answer: P("1") / (P("1") + P("0")) at the start of its reply. All draws
 * of a question get the same number.
 *
 * Different here: the judge is the teacher's own model and the prompt in our words; both probabilities are computed, while the paper's code
 * looks at the two likeliest tokens and counts an absent one as 0. A digit of several tokens counts as a whole.
 *
 * @example P("1") = 0.3, P("0") = 0.1 → 0.75
 */
export const difficulty = defineScorer({
  name: "difficulty",
  summary: "Difficulty of the question in the teacher's judgement, from 0 to 1.",
  source: "Select2Reason, arXiv 2505.17266; IDEA-FinAI/Select2Reason",
  gives: ["difficulty"],
  options,
  open({ prompt }, { policy }) {
    const judge = scoringTeacher(policy, "difficulty");
    const { tokenizer, rendering } = judge;
    const judged = new Map<string, Promise<Record<string, number>>>();
    const ask = async (question: string): Promise<Record<string, number>> => {
      // A function, because a question may contain the replacement pattern "$&".
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
});

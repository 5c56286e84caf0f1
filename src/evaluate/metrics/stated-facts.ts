import { sentencesOf } from "../../rollout/sentences.ts";
import { normalizeAnswer } from "../../text/answer-normalizations.ts";
import { stepQuestions } from "../../trajectory/task.ts";
import { defineMetric } from "./metric.ts";

const THOUGHT = /<think>(.*?)<\/think>/gs;

/**
 * Share of the thought's sentences that state a step of the question with its right answer, by the question's own steps: "The mayor of
 * Alkmona is Vavin Jarberg." Every other sentence counts as wrong, also a true one that is no step. 0 without a sentence. No model is
 * asked, so it can judge what a verifier rewarded.
 *
 * @example two sentences, of which the second names another mayor than the step: .5
 */
export const statedFacts = defineMetric({
  name: "stated-facts",
  summary: "Share of the thought's sentences that state a step of the question, rightly.",
  source: "ours; in place of the benchmarks of hallucination of FSPO, arXiv 2505.24630",
  score({ trajectory: { turns }, task: { annotations } }) {
    const { decomposition } = annotations;
    if (decomposition === undefined) return null;
    const questions = stepQuestions(decomposition);
    const facts = decomposition.map(({ answer }, i) =>
      normalizeAnswer(`The ${questions[i] ?? ""} is ${answer}.`),
    );
    const thoughts = turns.flatMap(({ text }) =>
      Array.from(text.matchAll(THOUGHT), ([, thought = ""]) => thought),
    );
    const sentences = thoughts.flatMap(sentencesOf).map((each) => normalizeAnswer(each));
    if (sentences.length === 0) return 0;
    return sentences.filter((each) => facts.includes(each)).length / sentences.length;
  },
});

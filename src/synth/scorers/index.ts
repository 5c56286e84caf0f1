import { registry } from "../../base/registry.ts";
import { z } from "../../base/schema.ts";
import type { Environment } from "../../env/environments/environment.ts";
import type { ScoringPolicy } from "../../rollout/prompt-session.ts";
import { observationLimit } from "../../rollout/roll-out.ts";
import { type Call, type Trajectory, type Turn, sequenceIds } from "../../trajectory/trajectory.ts";
import {
  type SampleScorer,
  type TextLikelihood,
  defineScorer,
  likelihoodOf,
  scoringTeacher,
} from "./scorer.ts";
import { traceValue } from "./trace-value.ts";

/**
 * Likelihood of the gold answer under the teacher's model: the last prompt up to the last observation, then the answer as the protocol
 * writes it, with its opening as a prefill (for `corag` log P(A | Q, chain, passages of Q)). The score counts the tokens of the reference and
 * of the closing tag, so that a longer answer with the same start does not match. Of several references the likeliest counts.
 * Different here: CoRAG stops a chain when this exceeds a bound; chains here are drawn whole.
 */
const answerLikelihood = defineScorer({
  name: "answer-likelihood",
  summary:
    "Log-probability of the gold answer after the trajectory: its mean per token, and its sum.",
  source: "CoRAG, arXiv 2501.14342, section 3.1; EXSEARCH, arXiv 2505.20128, the E-step",
  gives: ["answer-likelihood", "answer-likelihood-sum"],
  open(_options, { policy, environment }) {
    const teacher = scoringTeacher(policy, "answer-likelihood");
    const { protocol, toolSchemas } = environment;
    const opening = protocol.answerOpening;
    const closedAnswer = (reference: string): string => {
      const action = { tool: "answer", input: reference };
      const written = protocol.write({ thought: "", action }, toolSchemas);
      return written.startsWith(opening) ? written.slice(opening.length) : reference;
    };
    return {
      async score({ references }, trajectory, signal): Promise<Record<string, number>> {
        signal.throwIfAborted();
        const read = readBefore(teacher, environment, trajectory);
        if (read === null) return {};
        const promptIds = [...read, ...teacher.tokenizer.encode(opening)];
        const told: TextLikelihood[] = [];
        for (const reference of references) {
          const likelihood = await likelihoodOf(teacher, promptIds, closedAnswer(reference));
          if (likelihood !== null) told.push(likelihood);
        }
        if (told.length === 0) return {};
        return {
          "answer-likelihood": Math.max(...told.map(({ sum, tokens }) => sum / tokens)),
          "answer-likelihood-sum": Math.max(...told.map(({ sum }) => sum)),
        };
      },
    };
  },
});

/** The model's context for its last message, or the next one after observations, without hidden hints; null if unknown or none. */
function readBefore(
  policy: ScoringPolicy,
  environment: Environment,
  { calls, turns, end }: Trajectory,
): number[] | null {
  const last = turns.findLast(({ chain }) => chain === undefined);
  const cut = end === "context-limit" || end === "tool-error" || end === "model-error";
  if (last === undefined || cut || calls.some(hasOnlyText)) return null;
  if (last.observations.length > 0) {
    const ended = calls[last.call]?.completion.at(-1)?.ids.at(-1);
    const around = policy.rendering?.around(policy.tokenizer.endIds.includes(ended ?? -1));
    return [
      ...sequenceIds(calls.map(withoutWithheld), last.call),
      ...policy.tokenizer.encode(around?.before ?? ""),
      ...shownIds(policy, environment, last),
      ...policy.tokenizer.encode(around?.after ?? ""),
    ];
  }
  const open = calls.map((call, i) =>
    i === last.call ? { ...withoutWithheld(call), completion: [] } : withoutWithheld(call),
  );
  return sequenceIds(open, last.call);
}

/** A prefill is part of the completion; inserted segments of a prompt are hidden hints. */
function withoutWithheld(call: Call): Call {
  return { ...call, prompt: call.prompt.filter(({ owner }) => owner !== "inserted") };
}

function shownIds(
  { tokenizer, rendering }: ScoringPolicy,
  environment: Environment,
  { observations }: Turn,
): number[] {
  const bare = rendering?.wrapsResults === true;
  const text = bare
    ? observations.map((each) => each.text).join("\n\n")
    : environment.protocol.renderObservations(observations);
  return tokenizer.encode(text).slice(0, observationLimit({ environment }));
}

function hasOnlyText({ prompt, completion }: Call): boolean {
  return [...prompt, ...completion].some(({ text }) => text !== undefined);
}

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
 * Difficulty of a question in the teacher's judgement, without its answer: P("1") / (P("1") + P("0")) at the start of its reply.
 * Different here: the teacher's own model and our words; both probabilities are computed (the paper's code takes an absent one of the two
 * likeliest as 0). A digit of several tokens counts as a whole. @example P("1") = 0.3, P("0") = 0.1 → 0.75
 */
const difficulty = defineScorer({
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

/** All scorers of drawn trajectories. */
export const sampleScorers = registry<SampleScorer>("sample scorer", [
  answerLikelihood,
  difficulty,
  traceValue,
]);

import type { Environment } from "../../env/environments/environment.ts";
import type { ScoringPolicy } from "../../rollout/likelihood.ts";
import { observationLimit } from "../../rollout/roll-out.ts";
import { sequenceIds } from "../../trajectory/token-rows.ts";
import type { Call, Segment, Trajectory, Turn } from "../../trajectory/trajectory.ts";
import { defineScorer, likelihoodOf, scoringTeacher, type TextLikelihood } from "./scorer.ts";

/**
 * Likelihood of the gold answer under the teacher's model after a trajectory: the prompt up to the last observation, then the answer as the
 * protocol writes it, with its opening as a prefill. The trajectory's own last thought and answer are left out. The score counts the tokens
 * of the reference and of the closing tag, so that a longer answer with the same start does not match. Of several references the likeliest
 * counts, separately for each score.
 *
 * For strategies with new prompts the last prompt counts: for `corag` that is log P(A | Q, chain, passages of Q).
 *
 * Different here: CoRAG stops a chain when this exceeds a bound; chains here are drawn whole.
 */
export const answerLikelihood = defineScorer({
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

/**
 * The model's context for its last message or, if observations followed it, for the next one; without hidden hints, which may contain the
 * answer and are not trained on.
 * @returns null if there is no message, the next observations did not fit or failed, or a server keeps the tokens.
 */
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

/** A turn's observations as its next prompt would show them. */
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

function hasOnlyText({
  prompt,
  completion,
}: {
  prompt: Segment[];
  completion: Segment[];
}): boolean {
  return [...prompt, ...completion].some(({ text }) => text !== undefined);
}

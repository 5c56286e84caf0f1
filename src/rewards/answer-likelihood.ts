import { z } from "../base/schema.ts";
import { roleName } from "../trajectory/role.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { defineReward } from "./reward.ts";

/**
 * How likely a model holds a reference in the place of the trajectory's answer: the log-probability of its tokens after the question and
 * everything that was written and observed before the answer. The likeliest reference counts. A task without references, and a model
 * that gives no log-probabilities, cannot be scored.
 *
 * Source: EXSEARCH, arXiv 2505.20128, which weighs trajectories by it. Different here: question, messages and observations are joined by
 * line breaks, so that models with other prompts than the policy's can be asked.
 */
export const answerLikelihood = defineReward({
  name: "answer-likelihood",
  summary: "Log-probability of a reference, in nats per token, where the trajectory answers.",
  range: [-Infinity, 0],
  source: "EXSEARCH, arXiv 2505.20128, the E-step",
  options: z.strictObject({
    /** The model that is asked. */
    role: roleName().default("policy"),
    /** true: the mean over the reference's tokens; false: their sum, which favours short references. */
    normalize: z.boolean().default(true),
  }),
  async score({ trajectory, task }, { role, normalize }, { logprobs }) {
    const prompt = textBeforeAnswer(trajectory, task);
    return likeliest(task, async (reference) => {
      const tokens = await logprobs(prompt, reference, role);
      if (tokens === null || tokens.length === 0) return null;
      const sum = tokens.reduce((total, each) => total + each, 0);
      return Math.min(0, normalize ? sum / tokens.length : sum);
    });
  },
});

/** The largest figure of a task's references; null: none has one. */
export async function likeliest(
  { references }: Task,
  figureOf: (reference: string) => Promise<number | null>,
): Promise<number | null> {
  const found = (await Promise.all(references.map(figureOf))).filter((each) => each !== null);
  return found.length === 0 ? null : Math.max(...found);
}

/** The question, and what was written and observed up to the place of the answer. */
function textBeforeAnswer({ turns, given = [], answer }: Trajectory, { question }: Task): string {
  const lines = [question, ...given.map(({ text }) => text)];
  for (const { text, actions, observations } of turns) {
    const answers = answer !== null && actions.some(({ tool }) => tool === "answer");
    if (answers) return [...lines, text.slice(0, Math.max(0, text.lastIndexOf(answer)))].join("\n");
    lines.push(text, ...observations.map((each) => each.text));
  }
  return [...lines, ""].join("\n");
}

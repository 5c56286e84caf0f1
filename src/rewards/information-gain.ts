import { z } from "../base/schema.ts";
import { mean } from "../base/statistics.ts";
import { roleName } from "../trajectory/role.ts";
import type { Task } from "../trajectory/task.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { likeliest } from "./answer-likelihood.ts";
import { defineReward } from "./reward.ts";

/**
 * What each turn but the last adds to a model's probability of a reference: p after the turn less p before it, where p is e to the mean
 * log-probability of the reference's tokens after everything up to there and the text that opens an answer. The likeliest reference counts.
 * The last turn is for the outcome. A task without references, and a model that gives no log-probabilities, cannot be scored.
 *
 * Source: IGPO, arXiv 2510.14967; GuoqingWang1/IGPO, scrl/llm_agent/generation.py. Different here: question, messages and observations
 * are joined by line breaks, so that models with other prompts than the policy's can be asked; there is one reference in the code.
 */
export const informationGain = defineReward({
  name: "information-gain",
  summary: "Per turn but the last: how much likelier a reference became (IGPO).",
  range: [-1, 1],
  source: "IGPO, arXiv 2510.14967",
  placed: true,
  options: z.strictObject({
    /** The model that is asked. */
    role: roleName().default("policy"),
    /** What opens an answer, as the policy writes it. */
    opening: z.string().default("<answer>"),
  }),
  async score({ trajectory, task }, { role, opening }, { logprobs, cache, step }) {
    // The policy changes from step to step; within one, a group's trajectories begin alike.
    const probability = (prompt: string): Promise<number | null> =>
      cache.get([step, role, prompt, task.references], () =>
        likeliest(task, async (reference) => {
          const tokens = await logprobs(prompt, reference, role);
          return tokens === null || tokens.length === 0 ? null : Math.exp(mean(tokens));
        }),
      );
    const prompts = textsBeforeTurns(trajectory, task).map((text) => text + opening);
    const found = await Promise.all(prompts.map(probability));
    const known = found.filter((each) => each !== null);
    if (known.length < found.length) return null;
    return known.slice(1).map((after, turn) => ({ turn, value: after - (known[turn] ?? 0) }));
  },
});

/** For each turn the question and all that was written and observed before it, a line each. */
function textsBeforeTurns({ turns, given = [] }: Trajectory, { question }: Task): string[] {
  const lines = [question, ...given.map(({ text }) => text)];
  return turns.map(({ text, observations }) => {
    const before = [...lines, ""].join("\n");
    lines.push(text, ...observations.map((each) => each.text));
    return before;
  });
}

import { ConfigError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Observation } from "../../trajectory/trajectory.ts";
import { numbered } from "../passages.ts";
import { rollOut } from "../roll-out.ts";
import { defineStrategy } from "./strategy.ts";

const options = z.strictObject({
  /** The policy may write before it answers: its one message is its own from the start. Absent: its answer is begun for it. */
  thinks: z.boolean().optional(),
});

/**
 * No search: the prompt shows the question's own passages, numbered from 1 in the dataset's order (distractor setting), and the policy
 * answers from them. Passages that do not fit the budget of an observation are cut off.
 */
export const given = defineStrategy({
  name: "given",
  summary: "No search: the policy answers from the question's own passages, numbered.",
  source: "ARENA, arXiv 2505.13258; RARE, arXiv 2503.23513, with thinks",
  prompts: "once",
  searches: false,
  needs: ["context", "answers"],
  options,
  run: (rollout, { thinks }) => {
    const { answerOpening } = rollout.environment.protocol;
    const variant = thinks === true ? {} : { prefill: answerOpening };
    return rollOut(rollout, { maxTurns: 0, shownFirst: ownPassages(rollout.task), ...variant });
  },
});

/** @throws {ConfigError} STRATEGY_UNFIT when the question has none. */
function ownPassages({ id, annotations: { context = [] } }: Task): Observation {
  if (context.length === 0) {
    throw new ConfigError(
      "STRATEGY_UNFIT",
      `strategy given: question ${id} has no passages of its own. Use a dataset with contexts, such as hotpotqa, or tinyworld with distractors: 8.`,
    );
  }
  const shown = context.map(({ id, title, text }) => ({ id, text: `(Title: ${title}) ${text}` }));
  return { tool: "given", text: numbered(shown), passageIds: context.map((each) => each.id) };
}

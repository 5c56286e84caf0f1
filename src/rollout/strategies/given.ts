import { ConfigError } from "../../base/errors.ts";
import type { Task } from "../../trajectory/task.ts";
import type { Observation } from "../../trajectory/trajectory.ts";
import { numbered } from "../../trajectory/passages.ts";
import { answerOnce, onceOptions } from "./answer-once.ts";
import { defineStrategy } from "./strategy.ts";

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
  options: onceOptions,
  run: (rollout, settings) =>
    answerOnce(rollout, settings, { shownFirst: ownPassages(rollout.task) }),
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

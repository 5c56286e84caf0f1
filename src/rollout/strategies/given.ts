import { ConfigError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import type { Observation } from "../../trajectory/trajectory.ts";
import { numbered } from "../../trajectory/passages.ts";
import { answerOnce, onceOptions } from "./answer-once.ts";
import { defineStrategy } from "./strategy.ts";

const options = onceOptions.extend({
  /**
   * Of the passages only the gold ones; `sentences`: of those only the supporting sentences. Reading alone, without finding: a control, and
   * short texts to learn it from. Absent: all of them, whole.
   */
  gold: z.enum(["passages", "sentences"]).optional(),
});

/** No search: the prompt shows the question's own passages, numbered in the dataset's order, as far as the budget of an observation allows. */
export const given = defineStrategy({
  name: "given",
  summary: "No search: the policy answers from the question's own passages, numbered.",
  source: "ARENA, arXiv 2505.13258; RARE, arXiv 2503.23513, with thinks",
  prompts: "once",
  searches: false,
  needs: ["context", "answers"],
  options,
  readsGold: ({ gold }) => gold !== undefined,
  run: (rollout, { gold, ...once }) =>
    answerOnce(rollout, once, { shownFirst: ownPassages(rollout.task, gold) }),
});

/** @throws {ConfigError} STRATEGY_UNFIT when the question has none, or does not say which are gold. */
function ownPassages(task: Task, gold?: "passages" | "sentences"): Observation {
  const { id, annotations } = task;
  const { context = [], supportingPassages = [] } = annotations;
  if (context.length === 0) {
    const message = `strategy given: question ${id} has no passages of its own. Use a dataset with contexts, such as hotpotqa, or a generated world with distractors: 8.`;
    throw new ConfigError("STRATEGY_UNFIT", message);
  }
  const own =
    gold === undefined ? context : context.filter(({ id }) => supportingPassages.includes(id));
  if (own.length === 0) {
    const message = `strategy given: question ${id} does not say which of its passages are gold. Leave strategy.gold out, or use a dataset with supporting facts, such as hotpotqa.`;
    throw new ConfigError("STRATEGY_UNFIT", message);
  }
  const shown = own.map((passage) => {
    const text = gold === "sentences" ? supportingText(passage, annotations) : passage.text;
    return { id: passage.id, text: `(Title: ${passage.title}) ${text}` };
  });
  return { tool: "given", text: numbered(shown), passageIds: own.map((each) => each.id) };
}

/** The sentences of a passage that the dataset marks; the whole text where it marks none of them. */
function supportingText(
  { title, text, sentences = [] }: Passage,
  { supportingFacts = [] }: Task["annotations"],
): string {
  const marked = sentences.filter((_, number) =>
    supportingFacts.some((fact) => fact.title === title && fact.sentence === number),
  );
  return marked.length === 0 ? text : marked.join(" ");
}

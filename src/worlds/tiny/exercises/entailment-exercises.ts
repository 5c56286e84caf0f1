import type { Random } from "../../../base/random.ts";
import { z } from "../../../base/schema.ts";
import { ENTAILMENT, type Entailment, entailmentPrompt } from "../../../trajectory/role-prompts.ts";
import type { DatasetPart } from "../../../data/dataset.ts";
import { fill } from "../text.ts";
import { type AskedFact, askedFacts, NO_QUESTIONS, otherValue, shownPassages } from "./chains.ts";
import { exercises, exercisesSchema } from "./exercises.ts";

/**
 * For entailment verifiers: passages and a sentence about one fact. The passages state the fact as the sentence does, or with another value, or
 * not at all.
 */
export const entailmentExercises: DatasetPart = exercises({
  name: "entailment-exercises",
  summary: "Passages and a sentence, for a role that verifies.",
  options: exercisesSchema.extend({
    /** Passages shown, at most. */
    shown: z.int().min(2).max(20).default(3),
  }),
  make({ world, number, draw }, { shown }) {
    const mix = { ...NO_QUESTIONS, bridge1: 1 };
    const task = world.question(number, { mix, distractors: 2 + draw.int(shown - 1) });
    const { all, needed } = shownPassages(task);
    const [fact] = askedFacts(task);
    if (fact === undefined) throw new TypeError(`${task.id}: a chain of one hop has one fact.`);
    const label = draw.pick(LABELS);
    const isFalse = label === "contradicted" || (label === "neutral" && draw.int(2) === 0);
    const value = isFalse ? otherValue(world, fact, draw) : fact.value;
    const passages = label === "neutral" ? all.filter((each) => !needed.includes(each)) : all;
    const sentence = claim({ ...fact, value }, draw);
    return {
      prompt: entailmentPrompt({ passages, sentence }),
      replies: [label === "neutral" ? ENTAILMENT[label] : `${fact.value} ${ENTAILMENT[label]}`],
      type: label,
    };
  },
});

const LABELS = Object.keys(ENTAILMENT) as Entailment[];

/** A sentence that states a fact: by its label, or by a wording that names the entity and needs no noun. */
function claim({ relation, name, value }: AskedFact, draw: Random): string {
  const wordings = relation.wordings
    .map(({ statement }) => statement)
    .filter((statement) => /\{(s|ref)\}/.test(statement) && !statement.includes("{noun}"));
  const statement = draw.pick([`The ${relation.label} of {s} is {o}.`, ...wordings]);
  return fill(statement, { s: name, ref: name, o: value });
}

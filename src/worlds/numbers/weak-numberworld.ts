import { DataError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import { defineDataset } from "../../data/dataset.ts";
import type { Task } from "../../trajectory/task.ts";
import { openWeakQuestions, weakShape } from "../weak-questions.ts";
import {
  NUMBER_WORLD_VERSION,
  type NumberWorld,
  numberWorld,
  numberWorldSchema,
} from "./number-world.ts";
import { CONCEPTS, type Concept, KIND_NAMES } from "./problems.ts";

const options = numberWorldSchema.omit({ concepts: true }).extend({
  ...weakShape,
  /** The dataset of `rows`: it has the concepts of each problem. */
  of: weakShape.of.unwrap(),
  /** Categories of a problem: each operation of its solution and a fraction as its answer, or its kind. */
  by: z.enum(["concept", "kind"]).default("concept"),
  budget: weakShape.budget.unwrap().default("failure-rate"),
});

/**
 * New problems with the concepts that a policy fails at, from another world. A problem counts for each of its concepts.
 *
 * Source: SwS, arXiv 2506.08989: a budget by categories in proportion to their failure rates. Different here: the world tags each problem
 * with its concepts and writes the new ones with their answers, where SwS asks models for all three, for judgements and for votes. A new
 * problem has one concept for sure, and others as they come, where SwS draws sets of five that occur together.
 */
export const weakNumberWorld = defineDataset({
  name: "weak-numberworld",
  summary: "New problems with concepts that a policy gets wrong.",
  options,
  version: NUMBER_WORLD_VERSION,
  open(settings, context) {
    const { by, ...ofWorld } = settings;
    const given = numberWorldSchema.strip().parse(ofWorld);
    const worlds = new Map<Concept, NumberWorld>();
    const worldOf = (concept: Concept): NumberWorld => {
      const world = worlds.get(concept) ?? numberWorld({ ...given, concepts: [concept] });
      worlds.set(concept, world);
      return world;
    };
    const isKind = (tag: Concept): boolean => (KIND_NAMES as readonly Concept[]).includes(tag);
    return openWeakQuestions<Concept>(settings, context, {
      name: "numberworld",
      categoriesOf: ({ id }, task) =>
        conceptsOf(id, task).filter((tag) => isKind(tag) === (by === "kind")),
      nameOf: (concept) => concept,
      question: (concept, number) => worldOf(concept).problem(number),
      keyOf: ({ question }) => question,
    });
  },
});

/** @throws {DataError} DATA_BAD_RECORD when the problem is not of the dataset, or not of a number world. */
function conceptsOf(id: string, task: Task | undefined): Concept[] {
  const tags = task?.annotations.concepts;
  if (tags !== undefined) return CONCEPTS.filter((concept) => tags.includes(concept));
  const what = task === undefined ? "is not in the dataset" : "has no concepts in the dataset";
  const message = `weak-numberworld: the question ${id} of rows ${what} that "of" names. Name the number world that was asked.`;
  throw new DataError("DATA_BAD_RECORD", message);
}

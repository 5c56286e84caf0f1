import { DataError } from "../../base/errors.ts";
import { z } from "../../base/schema.ts";
import { defineDataset } from "../../data/dataset.ts";
import { openWeakQuestions, weakShape } from "../weak-questions.ts";
import { DEFAULT_MIX, TINY_WORLD_VERSION, tinyWorldSchema } from "./tiny-world-settings.ts";
import { readQuestion } from "./reading.ts";
import { tinyWorld } from "./tiny-world.ts";

const options = tinyWorldSchema.extend({
  ...weakShape,
  /** Passages in each question's context; 0: none. */
  distractors: z.int().min(0).max(100).default(0),
  /** Category of a question: its kind (type and hops), or kind and last relation. */
  by: z.enum(["kind", "relation"]).default("relation"),
});

/**
 * New questions of the kinds that a policy fails at, from another world: weak questions are grouped into categories, and each gets its share
 * of distinct new questions. Source: SwS, arXiv 2506.08989. Different here: a category's concept is its relation, and the world writes the
 * question, where SwS uses models. For its difficulty filter use the step `pass-rate` or the selector `difficulty-band`.
 */
export const weakTinyWorld = defineDataset({
  name: "weak-tinyworld",
  summary: "New questions of kinds that a policy answers wrong.",
  options,
  version: TINY_WORLD_VERSION,
  async open(settings, context) {
    const world = tinyWorld(tinyWorldSchema.strip().parse(settings));
    const { by, rows, distractors } = settings;
    const opened = await openWeakQuestions<Category>(settings, context, {
      name: "tinyworld",
      categoriesOf: ({ question }) => [categoryOf(question, by, rows)],
      nameOf,
      question: ({ kind, relation }, number) =>
        world.question(number, {
          mix: { ...NOTHING, [kind]: 1 },
          distractors,
          ...(relation === undefined ? {} : { relations: [relation] }),
        }),
      keyOf: ({ annotations }, category) =>
        `${nameOf(category)} ${JSON.stringify(annotations.supportingFacts)}`,
    });
    return { ...opened, passages: () => world.passages() };
  },
});

type Category = { kind: string; relation?: string };

function nameOf({ kind, relation = "" }: Category): string {
  return `${kind} ${relation}`;
}

/** @throws {DataError} DATA_BAD_RECORD when the question is not from a tiny world. */
function categoryOf(
  question: string,
  by: z.output<typeof options>["by"],
  rows: readonly string[],
): Category {
  const [reading] = readQuestion(question);
  if (reading === undefined) {
    const message = `${rows.join(", ")}: the question "${question}" is not from a tiny world, so its kind is unknown. Use rows of tiny-world questions.`;
    throw new DataError("DATA_BAD_RECORD", message);
  }
  if (reading.type === "bridge") {
    const relation = reading.chain.at(-1)?.name ?? "";
    const kind = `bridge${reading.chain.length}`;
    return by === "kind" ? { kind } : { kind, relation };
  }
  if (reading.type === "intersect") return { kind: "intersect" };
  const kind = KIND_OF[reading.type];
  return by === "kind" ? { kind } : { kind, relation: reading.relation.name };
}

const KIND_OF = {
  "yes-no": "yesNo",
  comparison: "comparison",
  "compare-chains": "compareChains",
} as const;

const NOTHING = Object.fromEntries(Object.keys(DEFAULT_MIX).map((kind) => [kind, 0]));

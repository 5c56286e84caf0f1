import { Readable } from "node:stream";
import { ConfigError } from "../../base/errors.ts";
import { sha256 } from "../../base/files.ts";
import { seedFrom } from "../../base/random.ts";
import { parseOptions, z } from "../../base/schema.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import { type DatasetPart, streamed } from "../../data/dataset.ts";
import { isWithin } from "./facts.ts";
import { knownWorld } from "./known-world.ts";
import { mix32 } from "./permutation.ts";
import { tinyQuestionShape, TINY_WORLD_VERSION, tinyWorld, tinyWorldSchema } from "./tiny-world.ts";

const share = z.number().min(0).max(1).default(0);

const options = tinyWorldSchema.extend({
  /** Number of questions. */
  questions: z.int().min(1).default(500),
  ...tinyQuestionShape,
  /** Passages in each question's context; 0: none. */
  distractors: z.int().min(0).max(100).default(0),
  /** Numbers of the questions; default: 0 to `questions` - 1. */
  rows: z.array(z.int().min(0)).min(1).optional(),
  /** Share of the questions about one fixed small world, which a policy can know by heart; its passages are added. */
  known: share,
  /** Share of the questions that repeat an earlier one. */
  duplicates: share,
  /** Share of the questions whose reference is wrong; the annotations stay true. */
  mislabelled: share,
});

type Settings = z.output<typeof options>;

/** Questions and passages of a generated world. */
export const tinyWorldDataset: DatasetPart = {
  name: "tinyworld",
  summary: "A generated fictional encyclopedia that no model knows.",
  options,
  open: (given) => {
    const settings = parseOptions(options, given, "tinyworld");
    // Names of the known world may stand for other entities in another world of its split.
    if (settings.known > 0 && settings.split === "base") {
      throw new ConfigError(
        "RECIPE_BAD_VALUE",
        `tinyworld: known is ${settings.known} with split "base", the split of the world known by heart. Set split to "train", "dev" or "test".`,
      );
    }
    const world = tinyWorld(tinyWorldSchema.strip().parse(settings));
    const known = settings.known > 0 ? knownWorld(settings) : null;
    return Promise.resolve({
      name: "tinyworld",
      fingerprint: `tinyworld-${TINY_WORLD_VERSION}-${sha256(JSON.stringify(settings)).slice(0, 16)}`,
      trainable: true,
      ...streamed((limit) => Readable.from(drawn(settings, limit))),
      *passages(): Generator<Passage> {
        yield* world.passages();
        if (known !== null) yield* known.passages();
      },
    });
  },
};

/** The questions in order. */
function* drawn(settings: Settings, limit: number): Generator<Task> {
  const { seed, split, rows, questions, duplicates, mislabelled } = settings;
  const world = tinyWorld(tinyWorldSchema.strip().parse(settings));
  const known = knownWorld(settings);
  const bits = (label: string, number: number): number =>
    mix32(seedFrom("tinyworld dataset", seed, split, label), number);
  const { mix, distractors, unanswerable, relations, exclude } = settings;
  const question = (number: number): Task => {
    const isKnown = isWithin(settings.known, bits("known", number));
    return isKnown
      ? known.question(number, { mix, distractors, relations, exclude })
      : world.question(number, { mix, distractors, unanswerable, relations, exclude });
  };
  const count = Math.min(limit, rows?.length ?? questions);
  for (let at = 0; at < count; at++) {
    let place = at;
    // The copy of a copy is a copy of the original.
    while (place > 0 && isWithin(duplicates, bits("duplicates", place)))
      place = bits("duplicate", place) % place;
    const number = rows?.[place] ?? place;
    const task = question(number);
    if (place < at) task.id += `-copy-${at}`;
    // A copy has the label of its original.
    if (isWithin(mislabelled, bits("mislabelled", number)))
      task.references = [wrongReference(task, number, question)];
    yield task;
  }
}

/** A reference of the same type that is wrong: the other of two answers, or the answer to a later question. */
function wrongReference(task: Task, number: number, question: (number: number) => Task): string {
  const [right = ""] = task.references;
  if (task.annotations.type === "yes-no") return right === "yes" ? "no" : "yes";
  const isYear = /^\d/.test(right);
  for (let later = number + 1; later < number + MOST_TRIES; later++) {
    const { references, annotations } = question(later);
    const [other = ""] = references;
    const isSameType = /^\d/.test(other) === isYear && annotations.type !== "yes-no";
    if (isSameType && other !== right) return other;
  }
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `tinyworld: no other question has an answer like "${right}", so it cannot be mislabelled. Set mislabelled to 0, or ask for several relations.`,
  );
}

/** Later questions to look through for a wrong reference. */
const MOST_TRIES = 1000;

import { ConfigError } from "../../base/errors.ts";
import { seedFrom } from "../../base/random.ts";
import type { Passage, Task } from "../../trajectory/task.ts";
import { isWithin } from "./facts.ts";
import { mix32 } from "./permutation.ts";
import { type TinyDatasetSettings as Settings, tinyWorldSchema } from "./tiny-world-settings.ts";
import { knownWorld, tinyWorld } from "./tiny-world.ts";

/** The passages: the world's, then those of the world known by heart. */
export function* passages(settings: Settings): Generator<Passage> {
  yield* tinyWorld(tinyWorldSchema.strip().parse(settings)).passages();
  if (settings.known > 0) yield* knownWorld(settings).passages();
}

/** The questions in order. */
export function* tasks(settings: Settings): Generator<Task> {
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
  const count = rows?.length ?? questions;
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
  const message = `tinyworld: no other question has an answer like "${right}", so it cannot be mislabelled. Set mislabelled to 0, or ask for several relations.`;
  throw new ConfigError("RECIPE_BAD_VALUE", message);
}

const MOST_TRIES = 1000;

import { type Random, random, seedFrom } from "../../../base/random.ts";
import { z } from "../../../base/schema.ts";
import { ROLE_REPLY } from "../../../trajectory/role-prompts.ts";
import type { Task } from "../../../trajectory/task.ts";
import { type DatasetPart, defineDataset } from "../../../data/dataset.ts";
import { TINY_WORLD_VERSION, type TinyWorld, tinyWorld, tinyWorldSchema } from "../tiny-world.ts";

/** Increases with every change of a byte of any exercise; part of a result's fingerprint. */
const EXERCISES_VERSION = 2;

/** Settings that all kinds of exercises have: those of their worlds, and how many there are. */
export const exercisesSchema = tinyWorldSchema.extend({
  /** People of each world. Many small worlds, so that no fact is learned by heart. */
  people: z.int().min(40).max(1_000_000).default(300),
  /** Number of exercises. */
  questions: z.int().min(1).default(500),
});

/** Exercises about one world; the next have another. */
const PER_WORLD = 50;

/** What an exercise is made of. */
export interface ExercisePlace {
  world: TinyWorld;
  /** Of the world's questions, the one that this exercise may use. */
  number: number;
  draw: Random;
}

export interface Exercise {
  /** As `role-prompts` writes it. */
  prompt: string;
  /** What the role shall reply; others are accepted as well. */
  replies: readonly [string, ...string[]];
  /** Its kind, for tables. */
  type: string;
}

interface Kind<Settings extends z.output<typeof exercisesSchema>> {
  name: string;
  summary: string;
  options: z.ZodType<Settings> & DatasetPart["options"];
  make: (place: ExercisePlace, settings: Settings) => Exercise;
}

/**
 * A dataset of exercises for a role. A question is the whole prompt up to the answer's opening tag, the first reference is the reply: with
 * `environment.prompt: "{question}"` and the strategy direct, a policy reads what the role will be asked with.
 */
export function exercises<Settings extends z.output<typeof exercisesSchema>>({
  name,
  summary,
  options,
  make,
}: Kind<Settings>): DatasetPart {
  return defineDataset({
    name,
    summary,
    version: `${EXERCISES_VERSION}-${TINY_WORLD_VERSION}`,
    options,
    open: (given) => {
      const settings = given as Settings;
      return { stream: (limit) => drawn(name, settings, limit, (place) => make(place, settings)) };
    },
  });
}

function* drawn(
  name: string,
  settings: z.output<typeof exercisesSchema>,
  limit: number,
  make: (place: ExercisePlace) => Exercise,
): Generator<Task> {
  const { seed, split, questions } = settings;
  const ofWorld = tinyWorldSchema.strip().parse(settings);
  let world: TinyWorld | undefined;
  for (let at = 0; at < Math.min(limit, questions); at++) {
    const number = at % PER_WORLD;
    const worldSeed = seedFrom(name, seed, (at - number) / PER_WORLD);
    if (number === 0 || world === undefined) world = tinyWorld({ ...ofWorld, seed: worldSeed });
    const draw = random(seed).derive(name, split, at);
    const { prompt, replies, type } = make({ world, number, draw });
    yield {
      id: `${name}-${split}-${seed}-${at}`,
      question: prompt.slice(0, -ROLE_REPLY.opening.length),
      references: [...replies],
      source: name,
      annotations: { type },
    };
  }
}

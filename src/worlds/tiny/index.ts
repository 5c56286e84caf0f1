import { random, seedFrom } from "../../base/random.ts";
import { parseOptions, z } from "../../base/schema.ts";
import { hotpotqa } from "../../data/layouts/hotpotqa.ts";
import { splitsSchema } from "../../env/world-folder.ts";
import { type LessonQuestion, type Lessons, defineWorld } from "../../env/world.ts";
import { checkTinyWorld } from "./check.ts";
import { tinyWorldDataset } from "./dataset.ts";
import { attackExercises } from "./exercises/attack-exercises.ts";
import { entailmentExercises, readerExercises, simulatorExercises } from "./exercises/exercises.ts";
import { judgeExercises } from "./exercises/judge-exercises.ts";
import { TINY_WORLD_SPLITS } from "./permutation.ts";
import { stepQueries, tinyWorldVocabulary } from "./text.ts";
import {
  TINY_WORLD_VERSION,
  mixSchema,
  tinyQuestionShape,
  tinyWorldSchema,
} from "./tiny-world-settings.ts";
import { knownWorld, rememberedSteps, tinyWorld } from "./tiny-world.ts";
import { weakTinyWorld } from "./weak-tinyworld.ts";

const share = z.number().min(0).max(1).default(0);

const variantSchema = tinyWorldSchema.omit({ seed: true, split: true, people: true }).extend({
  ...tinyQuestionShape,
  /** Share of the questions about the world known by heart, whose passages are added. */
  known: share,
  /** Share of its entities whose facts the teacher misremembers. */
  misremembered: share,
});

const options = z
  .strictObject({
    /** Worlds of different splits share no entity. */
    split: z.enum(TINY_WORLD_SPLITS).default("base"),
    people: z.int().min(10).default(300),
    /** Questions per world. */
    questionsPerWorld: z.int().min(1).default(128),
    /** World number i has the i-th of these, from the first again after the last. */
    variants: z.array(variantSchema).min(1).prefault([{}]),
  })
  .refine(
    ({ split, variants }) => split !== "base" || variants.every(({ known }) => known === 0),
    'expected another split than "base" where variants have known questions: the world known by heart is of split "base"',
  );

const MOST_KNOWN = 1_000_000;

const lessons: Lessons = {
  options,
  open(given, streamSeed, index) {
    const { split, people, questionsPerWorld, variants } = parseOptions(options, given, "worlds");
    const variant = variants[index % variants.length] ?? variantSchema.parse({});
    const {
      mix,
      unanswerable,
      relations,
      exclude,
      known: ofKnown,
      misremembered,
      ...shape
    } = variant;
    const seed = seedFrom("teacher", streamSeed, index);
    const world = tinyWorld({ ...shape, split, people, seed });
    const known = ofKnown === 0 ? null : knownWorld(shape);
    const draw = random(seed).derive("known");
    const questions = Array.from({ length: questionsPerWorld }, (_, number): LessonQuestion => {
      if (known === null || draw.next() >= ofKnown) {
        const task = world.question(number, { mix, unanswerable, relations, exclude });
        return { task, remembered: null };
      }
      // Each world of the stream asks other questions of it.
      const task = known.question((seed % MOST_KNOWN) + number, { mix, relations, exclude });
      return { task, remembered: rememberedSteps(task, misremembered) };
    });
    return { passages: [...world.passages(), ...(known?.passages() ?? [])], questions };
  },
};

const written = tinyWorldSchema.omit({ split: true }).extend({
  splits: splitsSchema(z.enum(TINY_WORLD_SPLITS)),
  /** Per split. */
  questions: z.int().min(1).default(500),
  /** Passages in each question's context; 0: no context, the questions refer to the whole corpus. */
  distractors: z.int().min(0).max(100).default(0),
  mix: mixSchema.prefault({}),
  /** Share of the chains that no passage answers; needs `missing`. */
  unanswerable: z.number().min(0).max(1).default(0),
});

/** Fictional people, towns, works and firms, questions of one to six hops. A right answer proves a search. docs/worlds.md */
export const tiny = defineWorld({
  name: "tinyworld",
  summary: "A generated fictional encyclopedia that no model knows.",
  version: TINY_WORLD_VERSION,
  dataset: tinyWorldDataset,
  written: { options: written, layout: hotpotqa, hasPassages: true },
  check: async ({ tasks, passages }) => {
    const { problems, ...counts } = await checkTinyWorld(passages(), tasks);
    return { counts, problems };
  },
  datasets: [
    weakTinyWorld,
    readerExercises,
    simulatorExercises,
    judgeExercises,
    attackExercises,
    entailmentExercises,
  ],
  // Signs of its texts stand without a space.
  vocabulary: () => tinyWorldVocabulary().map((word) => (/^\p{L}/u.test(word) ? ` ${word}` : word)),
  stepQueries,
  lessons,
  bases: [
    ...["timid", "deep", "messy", "stray", "knowing", "knowing-typed", "chains"],
    "knowing-stating",
    ...["unrefined", "refining", "refining-asked", "remembering", "advised"],
    ...["unasking", "boxing"],
    ...["calling", "calling-chains", "citing", "misciting"],
    ...["reader-a", "reader-b", "simulator", "judge", "entailment"],
    ...["number-judge", "number-judge-sound"],
  ],
});

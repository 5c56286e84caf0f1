import { z } from "../../base/schema.ts";
import { hotpotqa } from "../../data/layouts/hotpotqa.ts";
import { defineWorld } from "../../env/world.ts";
import { splitsSchema } from "../../env/world-folder.ts";
import { checkTinyWorld } from "./check.ts";
import { tinyWorldDataset } from "./dataset.ts";
import { entailmentExercises } from "./exercises/entailment-exercises.ts";
import { judgeExercises } from "./exercises/judge-exercises.ts";
import { readerExercises } from "./exercises/reader-exercises.ts";
import { simulatorExercises } from "./exercises/simulator-exercises.ts";
import { lessons } from "./lessons.ts";
import { TINY_WORLD_SPLITS } from "./splits.ts";
import { stepQueries, tinyWorldVocabulary } from "./text.ts";
import { mixSchema, TINY_WORLD_VERSION, tinyWorldSchema } from "./tiny-world.ts";
import { weakTinyWorld } from "./weak-tinyworld.ts";

/** Settings of a world that is written to a folder. */
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

/**
 * The tiny world: an encyclopedia of fictional people, towns, works and firms, with questions of one to six hops. No model has memorised it, so a
 * right answer proves a search. docs/worlds.md
 */
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
    entailmentExercises,
  ],
  // Signs of its texts stand without a space.
  vocabulary: () => tinyWorldVocabulary().map((word) => (/^\p{L}/u.test(word) ? ` ${word}` : word)),
  stepQueries,
  lessons,
  bases: [
    ...["timid", "deep", "messy", "knowing", "knowing-typed", "chains"],
    ...["unrefined", "refining", "unasking", "boxing", "calling", "calling-chains", "citing"],
    ...["reader-a", "reader-b", "simulator", "judge", "entailment"],
  ],
});

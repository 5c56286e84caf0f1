import { z } from "../../../base/schema.ts";
import { readerPrompt } from "../../../trajectory/role-prompts.ts";
import type { DatasetPart } from "../../../data/dataset.ts";
import { UNKNOWN } from "../language.ts";
import { mixSchema } from "../tiny-world.ts";
import { shownPassages } from "./chains.ts";
import { exercises, exercisesSchema } from "./exercises.ts";

/** For readers: passages and a question, whose short answer they state. */
export const readerExercises: DatasetPart = exercises({
  name: "reader-exercises",
  summary: "Passages and a question, for a role that reads.",
  options: exercisesSchema.extend({
    mix: mixSchema.prefault({}),
    /** Passages shown, at least and at most; never fewer than the question needs. */
    shown: z
      .tuple([z.int().min(1), z.int().max(20)])
      .refine(([least, most]) => least <= most, "expected the smaller number first")
      .default([1, 3]),
    /** Share of the exercises that lack a passage, so that the reply is "unknown". */
    absent: z.number().min(0).max(1).default(0.15),
  }),
  make({ world, number, draw }, { mix, shown: [least, most], absent }) {
    const distractors = least + draw.int(most - least + 1);
    const task = world.question(number, { mix, distractors });
    const { all, needed } = shownPassages(task);
    const { question, references, annotations } = task;
    const [answer = ""] = references;
    const kind = `${annotations.type ?? ""} ${annotations.hops ?? ""}`;
    if (all.length === 1 || draw.next() >= absent) {
      return { prompt: readerPrompt({ passages: all, question }), replies: [answer], type: kind };
    }
    const left = draw.pick(needed);
    const passages = all.filter((passage) => passage !== left);
    return { prompt: readerPrompt({ passages, question }), replies: [UNKNOWN], type: UNKNOWN };
  },
});

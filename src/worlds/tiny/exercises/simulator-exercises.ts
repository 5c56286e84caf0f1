import { z } from "../../../base/schema.ts";
import { numberedPassages, simulatorPrompt } from "../../../trajectory/role-prompts.ts";
import type { Passage } from "../../../trajectory/task.ts";
import type { DatasetPart } from "../../../data/dataset.ts";
import { stepQueries } from "../text.ts";
import { mixSchema } from "../tiny-world.ts";
import { shownPassages } from "./chains.ts";
import { exercises, exercisesSchema } from "./exercises.ts";

/**
 * For simulated search engines: a query of a question, the question and its answer, and whether the passages shall be useful. Useful passages
 * are the one that the query looks for and another; noisy ones are two others. The simulator cannot know a value on the way to the answer, so it
 * learns to invent one.
 *
 * Source: the simulators of ZeroSearch, arXiv 2505.04588, tuned on trajectories. Different here: the queries are those of gold chains.
 */
export const simulatorExercises: DatasetPart = exercises({
  name: "simulator-exercises",
  summary: "Queries, for a role that writes passages.",
  options: exercisesSchema.extend({
    mix: mixSchema.prefault({ comparison: 0, yesNo: 0 }),
    /** Share of noisy passages. */
    noisy: z.number().min(0).max(1).default(0.5),
    /** Share of the queries that use a word of a passage in place of the fact's label. */
    reworded: z.number().min(0).max(1).default(0.5),
  }),
  make({ world, number, draw }, { mix, noisy, reworded }) {
    const task = world.question(number, { mix, distractors: 8 });
    const { question, references, annotations } = task;
    const [answer = ""] = references;
    const steps = annotations.decomposition ?? [];
    const at = draw.int(steps.length);
    const step = steps[at];
    const { all, needed } = shownPassages(task);
    const isOther = (passage: Passage): boolean =>
      !needed.includes(passage) && !`${passage.title} ${passage.text}`.includes(answer);
    const others = draw.shuffle(all.filter(isOther));
    const wanted = all.find(({ id }) => id === step?.passage);
    const label = step?.question ?? "";
    const query = draw.next() < reworded ? draw.pick(stepQueries(label)) : label;
    const isUseful = wanted !== undefined && draw.next() >= noisy;
    const passages = isUseful ? [wanted, ...others.slice(0, 1)] : others.slice(0, 2);
    const quality = isUseful ? "useful" : "noisy";
    const reply = numberedPassages(passages);
    const isLast = at === steps.length - 1;
    return {
      prompt: simulatorPrompt({ query, question, answer, quality }),
      // The answer beside the whole reply lets cover-EM count the passages that state it.
      replies: isUseful && isLast ? [reply, answer] : [reply],
      type: `${quality} ${isLast ? "last" : "earlier"}`,
    };
  },
});

import { partSchema } from "../base/define-part.ts";
import { z } from "../base/schema.ts";
import { samplingSchema } from "../rollout/sampling.ts";
import { strategies } from "../rollout/strategies/index.ts";
import { taskAnnotations } from "./annotations/index.ts";
import { sampleScorers } from "./scorers/index.ts";
import { sampleSelectors } from "./selectors/index.ts";
import { synthSteps } from "./steps/index.ts";
import { teacherSchema } from "./teachers/index.ts";

/** One set of draws of each question. */
const drawSchema = z.strictObject({
  /** Part of the ids of its samples. */
  name: z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "expected lower-case letters, digits and hyphens"),
  strategy: partSchema(strategies).prefault("agent"),
  /** Trajectories per question. */
  samples: z.int().min(1).default(1),
  /** Default: the recipe's strategy. */
  sampling: samplingSchema.optional(),
});

/** A synthesis: how questions are drawn, and which draws become samples. docs/synthesis.md */
export const synthSchema = z.strictObject({
  teacher: teacherSchema.prefault({ name: "gold-chain" }),
  /** Most questions, from the start of the dataset. */
  limit: z.int().min(1).optional(),
  /** Annotations added to each question before it is drawn. */
  annotate: z.array(partSchema(taskAnnotations)).default([]),
  draws: z
    .array(drawSchema)
    .min(1)
    .refine(
      (draws) => new Set(draws.map(({ name }) => name)).size === draws.length,
      "expected draws of different names",
    )
    .prefault([{ name: "plain" }]),
  /** Scores of each trajectory beside the recipe's rewards. */
  scores: z.array(partSchema(sampleScorers)).default([]),
  /** Steps for each question's trajectories, in this order. */
  steps: z.array(partSchema(synthSteps)).default([]),
  /** Selectors that choose among all samples and order them. */
  selection: z.array(partSchema(sampleSelectors)).default([]),
  /** Share of the questions whose samples go to the validation file. */
  validation: z.number().min(0).lt(1).default(0),
});

export type SynthSettings = z.output<typeof synthSchema>;
export type DrawSettings = SynthSettings["draws"][number];

import { choice, z } from "../../base/schema.ts";
import { affects } from "../../base/setting-effect.ts";
import { worldStreamSchema } from "../../synth/teacher-trajectories.ts";
import { behaviourSchema } from "../../synth/teachers/behaviour.ts";
import {
  sftSamplesSchema,
  type SftSamplesSettings,
  sftStreamSchema,
} from "../../algorithms/sft.ts";

const streamSchema = sftStreamSchema.extend({
  worlds: worldStreamSchema.prefault({}),
  curriculum: z
    .array(
      z.strictObject({
        steps: z.int().min(1).meta(affects("length")),
        behaviour: behaviourSchema.prefault({}),
      }),
    )
    .min(1),
});

/** Phases in order; a teacher makes their trajectories during training. */
export type SftCurriculumSettings = z.output<typeof streamSchema>;

export type SftSettings = SftCurriculumSettings | SftSamplesSettings;

/** A recipe's `sft`: samples of a file, or with `curriculum` a stream. Each of the two has its own keys. */
export const sftSchema: z.ZodType<SftSettings> = choice<SftSettings>(
  (value) => {
    const given = typeof value === "object" && value !== null ? value : {};
    if ("stages" in given) {
      const message = '"sft.stages" was renamed: write "sft.curriculum" (the values are the same).';
      return { problem: { code: "RECIPE_BAD_VALUE", message } };
    }
    if (!("curriculum" in given)) return { schema: sftSamplesSchema, value };
    if (!("data" in given)) return { schema: streamSchema, value };
    const message =
      "has both data (samples of a file) and curriculum (a stream of the tiny world): expected one of them. Remove the other.";
    return { problem: { code: "RECIPE_BAD_VALUE", message } };
  },
  () => [streamSchema, sftSamplesSchema],
);

/** Whether `sft` trains on a stream. */
export function hasCurriculum(sft: SftSettings): sft is SftCurriculumSettings {
  return "curriculum" in sft;
}

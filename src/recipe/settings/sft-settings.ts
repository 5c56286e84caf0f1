import { choice, z } from "../../base/schema.ts";
import { affects } from "../../base/setting-effect.ts";
import { worldStreamSchema } from "../../synth/teacher-trajectories.ts";
import { behaviourSchema } from "../../synth/teachers/teacher-settings.ts";
import { sftSamplesSchema, type SftSamplesSettings, sftStreamSchema } from "../../train/sft.ts";

const streamSchema = sftStreamSchema.extend({
  worlds: worldStreamSchema.prefault({}),
  stages: z
    .array(
      z.strictObject({
        steps: z.int().min(1).meta(affects("length")),
        behaviour: behaviourSchema.prefault({}),
      }),
    )
    .min(1),
});

/** Supervised stages in order, on a teacher's trajectories that are made while they are learned from. */
export type SftStagesSettings = z.output<typeof streamSchema>;

/** A recipe's `sft`: samples of a file, or with `stages` a stream. Each way has keys of its own. */
export const sftSchema: z.ZodType<SftStagesSettings | SftSamplesSettings> = choice<
  SftStagesSettings | SftSamplesSettings
>(
  (value) => {
    const given = typeof value === "object" && value !== null ? value : {};
    if (!("stages" in given)) return { schema: sftSamplesSchema, value };
    if (!("data" in given)) return { schema: streamSchema, value };
    const message =
      "has both data (samples of a file) and stages (a stream of the tiny world's): expected one of them. Take the other out.";
    return { problem: { code: "RECIPE_BAD_VALUE", message } };
  },
  () => [streamSchema, sftSamplesSchema],
);

/** Whether `sft` is of stages on a stream. */
export function hasStages(sft: SftStagesSettings | SftSamplesSettings): sft is SftStagesSettings {
  return "stages" in sft;
}

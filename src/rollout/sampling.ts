import { z } from "../base/schema.ts";
import { ignoredWhen } from "../base/setting-effect.ts";

/** Sampling settings of a policy's messages. */
export const samplingSchema = z.strictObject({
  /** 0: greedy. */
  temperature: z.number().nonnegative().default(1),
  topP: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .meta(ignoredWhen({ temperature: 0 })),
  topK: z
    .int()
    .nonnegative()
    .default(0)
    .meta(ignoredWhen({ temperature: 0 })),
});

export type Sampling = z.output<typeof samplingSchema>;

/** Greedy sampling. */
export const GREEDY: Sampling = { temperature: 0, topP: 1, topK: 0 };

import { z } from "../base/schema.ts";
import { ignoredWhen } from "../base/setting-effect.ts";

/** Sampling settings of a policy's messages. */
export const samplingSchema = z.strictObject({
  /** 0: greedy. */
  temperature: z.number().nonnegative().default(1),
  /** Of the tokens that topK left, the fewest that hold this share of their probability. */
  topP: z
    .number()
    .gt(0)
    .max(1)
    .default(1)
    .meta(ignoredWhen({ temperature: 0 })),
  /** The most likely tokens alone; 0: all. */
  topK: z
    .int()
    .nonnegative()
    .default(0)
    .meta(ignoredWhen({ temperature: 0 })),
  /** Drops tokens below this share of the likeliest one's probability, of those that topK and topP left. Off when absent. */
  minP: z
    .number()
    .min(0)
    .max(1)
    .optional()
    .meta(ignoredWhen({ temperature: 0 })),
});

export type Sampling = z.output<typeof samplingSchema>;

/** What a call records of the temperature it was sampled at: nothing for 1, and for greedy draws, whose log-probabilities are of 1. */
export function recordedTemperature({ temperature }: Pick<Sampling, "temperature">): {
  temperature?: number;
} {
  return temperature === 0 || temperature === 1 ? {} : { temperature };
}

/** Greedy sampling. */
export const GREEDY: Sampling = { temperature: 0, topP: 1, topK: 0 };

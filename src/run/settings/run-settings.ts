import { z } from "../../base/schema.ts";

/** How often checkpoints are made, and which of them stay. */
export const checkpointsSchema = z.strictObject({
  /** Steps between two; the last step always has one. */
  every: z.int().min(1).default(20),
  /** The newest so many stay, and the best one besides; null: all. */
  keep: z.int().min(1).nullable().default(3),
});

/** How a run continues after a rollback. */
export const rollbackSchema = z.strictObject({
  /** What the learning rate is multiplied by, each time. */
  learningRateFactor: z.number().positive().max(1).default(0.5),
  /** Times that a run goes back; at the next alarm it ends. */
  most: z.int().min(1).default(2),
});

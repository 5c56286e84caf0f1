import { z } from "../../base/schema.ts";

/**
 * How a gold-chain teacher decides, as probabilities of the good choice. All 1 is an oracle; less makes a mixture of behaviours
 * whose best members succeed: what a policy needs before reinforcement can select.
 */
export const behaviourSchema = z.strictObject({
  /** To search at all, rather than to guess from the question. */
  search: z.number().min(0).max(1).default(1),
  /** To go on after a hop that is not the last, rather than to answer with what was just read. */
  continue: z.number().min(0).max(1).default(1),
  /** To name what is searched for, rather than the relation alone. */
  fullQuery: z.number().min(0).max(1).default(1),
});

export type Behaviour = z.output<typeof behaviourSchema>;

import { z } from "../../base/schema.ts";
import { hasMeanBetween } from "../scored-group.ts";
import { defineSampler } from "./sampler.ts";
import { groupRequest, shuffledTasks } from "./shuffled.ts";

const options = z.strictObject({
  /** Reward by whose mean a group is judged, before weights; the combined reward when absent. */
  reward: z.string().optional(),
  /** A group is kept where its mean lies strictly between these two. */
  above: z.number().default(0),
  below: z.number().default(1),
  /** Rounds of rollouts that a step may take; after the last it trains on what it has. */
  maxRounds: z.int().min(1).default(4),
});

/**
 * Dynamic sampling: groups that teach nothing, being all right or all wrong, are replaced by groups of further tasks until the batch is
 * full.
 *
 * Source: DAPO, arXiv 2503.14476, section 3.2. Different here: as many groups are asked for as are missing, not another whole batch; after
 * `maxRounds` the step trains on a smaller batch.
 */
export const refill = defineSampler({
  name: "refill",
  summary: "Replaces groups that are all right or all wrong by groups of further tasks (DAPO).",
  source: "DAPO, arXiv 2503.14476, section 3.2",
  options,
  open: ({ maxRounds, ...band }, context, state) => {
    const taskAt = shuffledTasks(context);
    let place = stateSchema.parse(state ?? { place: 0 }).place;
    let asked = 0;
    const request = (step: number, count: number) =>
      Array.from({ length: count }, () => groupRequest(context, taskAt(place++), step, asked++));
    return {
      next(step) {
        asked = 0;
        return request(step, context.promptsPerStep);
      },
      accept(groups, step, round) {
        const kept = groups.filter((group) => hasMeanBetween(group, band));
        const missing = context.promptsPerStep - kept.length;
        const isLast = round >= maxRounds || asked >= context.tasks.length;
        const more = missing > 0 && !isLast ? request(step, missing) : [];
        return { batch: kept.slice(0, context.promptsPerStep), more };
      },
      state: () => ({ place }),
    };
  },
});

const stateSchema = z.object({ place: z.int().min(0) });

import { z } from "../../base/schema.ts";
import type { Trajectory } from "../../trajectory/trajectory.ts";
import type { RolloutOptions } from "../record.ts";
import { rollOut, type RolloutVariant } from "../roll-out.ts";

/** Options of strategies whose prompt shows passages and which ask once. */
export const onceOptions = z.strictObject({
  /** The policy writes its whole message, with thoughts before the answer, as in RARE. Absent: its answer is begun for it. */
  thinks: z.boolean().optional(),
});

/** One message without tools. @param shown what the prompt shows beside the question. */
export function answerOnce(
  rollout: RolloutOptions,
  { thinks = false }: z.output<typeof onceOptions> = {},
  shown: Pick<RolloutVariant, "searchFirst" | "shownFirst"> = {},
): Promise<Trajectory> {
  const { answerOpening } = rollout.environment.protocol;
  const begun = thinks ? {} : { prefill: answerOpening };
  return rollOut(rollout, { maxTurns: 0, ...shown, ...begun });
}

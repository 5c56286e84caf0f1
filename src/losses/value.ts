import { scalarLike, type Value } from "../autodiff/graph.ts";
import { add, castTo, clamp, greater, max, mul, sub } from "../autodiff/ops/elementwise.ts";
import { z } from "../base/schema.ts";
import { defineLoss, weightedSum } from "./loss.ts";

/**
 * Clipped regression of a critic's values V on returns R: ½ max((V − R)², (clip(V, V_old ± clip) − R)²). The larger of both errors counts,
 * so a value that has moved far enough since it was computed is pulled no further.
 *
 * Fields: `returns`; `oldValues`, the values with which the returns were made, where there is a clip.
 *
 * Source: PPO's public implementation (openai/baselines, ppo2); verl, compute_value_loss; TRL.
 *
 * @example V 1, R 2, V_old 0, clip .5: max(1, 2.25) / 2 = 1.125
 */
export const valueLoss = defineLoss({
  name: "value",
  summary: "Clipped regression of a critic's values on returns.",
  source: "openai/baselines, ppo2; verl, compute_value_loss",
  fields: ["returns", "oldValues"],
  reads: () => ["values"],
  options: z.strictObject({
    /** Largest change of a value by the updates of one batch; null is off. */
    clip: z.number().positive().nullable().default(0.5),
    /** Multiplies the loss: its share beside a policy's in a shared trunk. */
    coef: z.number().positive().default(1),
  }),
  build(inputs, { clip, coef }) {
    const { fields } = inputs;
    const returns = fields["returns"]!;
    const values = inputs.values();
    const total = weightedSum(fields);
    const square = (x: Value): Value => mul([x, x]);
    const free = square(sub([values, returns]));
    const metrics: Record<string, Value> = {};
    let worst = free;
    if (clip !== null) {
      const old = fields["oldValues"]!;
      const near = add([old, clamp(sub([values, old]), -clip, clip)]);
      const limited = square(sub([near, returns]));
      worst = max([free, limited]);
      metrics["losses/value_clip_fraction"] = total(castTo(greater([limited, free]), "float32"));
    }
    const half = mul([worst, scalarLike(worst, 0.5)]);
    metrics["losses/value"] = total(half);
    return { loss: total(mul([half, scalarLike(half, coef)])), metrics };
  },
});

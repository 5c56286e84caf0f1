import { z } from "../base/schema.ts";
import { tokensAt } from "./credit.ts";
import { advantageAt, defineEstimator } from "./estimator.ts";
import { groupAdvantage } from "./group.ts";

const options = z.strictObject({
  /** Name of the reward whose values decide the sign; give it the weight 0. */
  by: z.string().meta({ names: "reward" }),
  /** As of `group`. */
  scale: z.enum(["group", "none"]).default("group"),
  /** Added to the deviation. */
  epsilon: z.number().positive().default(1e-6),
});

/**
 * GRPO's advantage A of a trajectory, whose sign is turned at tokens that it does not fit: A' = A if m·A ≥ 0, else −A. m is the value of
 * the reward `by` at the tokens that it names, and 1 at all others (tags, the answer); where it gave the trajectory no value at all
 * (mathematics, a broken format), m is 0 everywhere and A' = A. So a true sentence gets |A|, a false one −|A|, one of value 0 A, and the
 * answer |A|, even where it is wrong.
 *
 * Source: FSPO, arXiv 2505.24630, and its code nusnlp/FSPO. Different here: places are exact; the code's mask begins at the first token of
 * the response, so that it drifts by tags and spaces.
 *
 * @example A −.5; values 1 at token 0 and −1 at token 1 of three: .5, −.5, .5
 */
export const signFlip = defineEstimator({
  name: "sign-flip",
  summary: "GRPO's advantage with the sign that a reward's values at places demand (FSPO).",
  source: "FSPO, arXiv 2505.24630; nusnlp/FSPO",
  needsGroups: true,
  options,
  estimate(trajectories, { by, ...group }) {
    const others = trajectories.map((each) => ({
      ...each,
      rewards: each.rewards.filter(({ name }) => name !== by),
    }));
    const plain = groupAdvantage.estimate(others, { ...group, addressed: "trajectory" });
    return trajectories.map(({ rewards, tokens }, i) => {
      const advantage = plain[i] ?? 0;
      const values = rewards.filter(({ name, value, at }) => name === by && value !== null && at !== null); // prettier-ignore
      if (values.length === 0) return advantage;
      const mask = tokens.call.map(() => 1);
      for (const { at, value } of values) {
        if (at === null || value === null) continue;
        for (const token of tokensAt(tokens, at)) mask[token] = value;
      }
      return mask.map((sign, token) => {
        const given = advantageAt(advantage, token);
        return sign * given >= 0 ? given : -given;
      });
    });
  },
});

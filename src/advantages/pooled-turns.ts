import { valuesBy } from "../base/grouped-by.ts";
import { z } from "../base/schema.ts";
import { mean } from "../base/statistics.ts";
import { discountedToGo, rewardsByTurn } from "./credit.ts";
import { allEqual, defineEstimator, sampleDeviation } from "./estimator.ts";

const options = z.strictObject({
  /** γ of the sum over later turns. */
  gamma: z.number().min(0).max(1).default(1),
  /** Added to the deviation. */
  epsilon: z.number().positive().default(1e-6),
});

/**
 * What each turn is paid is compared with what all turns of the group are paid, the outcome at the last turn among them; a turn's advantage
 * is its own figure and the discounted ones of all later turns: A_t = Σ γ^(k−t) · (r_k − mean) / (deviation + ε) over k ≥ t.
 *
 * Source: IGPO, arXiv 2510.14967. Different here: the sample deviation (n − 1). The authors' code, GuoqingWang1/IGPO, sums first (γ = 1) and
 * then compares the tokens at equal places of the group's trajectories, whatever their turns; the paper is followed.
 *
 * @example turns paid 1, 0 and 2, 1 in a group, ε → 0, γ 1: mean 1, deviation .816; (0, −1.22) summed to −1.22, −1.22 and (1.22, 0) to 1.22, 0
 */
export const pooledTurns = defineEstimator({
  name: "pooled-turns",
  summary: "Each turn's reward against all turns of the group, summed over later turns (IGPO).",
  source: "IGPO, arXiv 2510.14967",
  needsGroups: true,
  options,
  estimate(trajectories, { gamma, epsilon }) {
    const paid = trajectories.map((each) => ({
      groupId: each.groupId,
      turns: rewardsByTurn(each) ?? [],
    }));
    const groups = valuesBy(
      paid.flatMap(({ groupId, turns }) => turns.map((value) => ({ groupId, value }))),
      ({ groupId }) => groupId,
      ({ value }) => value,
    );
    return trajectories.map(({ tokens }, i) => {
      const { groupId = "", turns = [] } = paid[i] ?? {};
      const group = groups.get(groupId) ?? [];
      if (allEqual(group)) return 0;
      const [centre, deviation] = [mean(group), sampleDeviation(group) + epsilon];
      const toGo = discountedToGo(
        turns.map((value) => (value - centre) / deviation),
        gamma,
      );
      return tokens.turn.map((turn) => toGo[turn] ?? 0);
    });
  },
});

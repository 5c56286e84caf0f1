import { valuesBy } from "../base/grouped-by.ts";
import { z } from "../base/schema.ts";
import { mean } from "../base/statistics.ts";
import { creditByAddress, discountedToGo, rewardsByTurn } from "./credit.ts";
import { allEqual, defineEstimator, sampleDeviation } from "./estimator.ts";

const options = z.strictObject({
  /** Divide by the group's deviation, or only subtract its mean. */
  scale: z.enum(["group", "none"]).default("group"),
  /** Share of the episode's advantage; 1 in the paper, 0 where it is left out. */
  episode: z.number().default(1),
  /** ω, the share of the step's advantage. */
  step: z.number().default(1),
  /** γ of the returns that steps are compared by. */
  gamma: z.number().min(0).max(1).default(0.95),
  /** Added to the deviation. */
  epsilon: z.number().positive().default(1e-6),
});

/**
 * A = A_E + ω · A_S at each token. A_E compares the trajectory's reward with its group's. A_S compares the discounted return from a turn on,
 * Σ γ^(k−t) · r_k, with those of all turns of the group that began in the same state, where the state is what the tools last answered;
 * the first turns share the question. A state that was seen once has A_S = 0.
 *
 * Source: GiGPO, arXiv 2505.10978, equations 5 to 8, with the sample deviation (n − 1) of the authors' code, langfengQ/verl-agent. Different
 * here: A_E is over trajectories, as in the paper; the code counts each once for every step that it has. States are equal texts; the code
 * can also group similar ones.
 *
 * @example two trajectories of two turns, rewards 1 and 0 at their ends, other states at their second turns, γ .5, scale none: both turns get
 *   A_E ±.5; the first turns have returns .5 and 0, so A_S ±.25; the second turns have A_S 0
 */
export const anchorState = defineEstimator({
  name: "anchor-state",
  summary:
    "Each turn against turns of the group that began in the same state, beside the episode's (GiGPO).",
  source: "GiGPO, arXiv 2505.10978; langfengQ/verl-agent, gigpo/core_gigpo.py",
  needsGroups: true,
  options,
  estimate(trajectories, { scale, episode, step, gamma, epsilon }) {
    const against = (value: number, values: readonly number[]): number => {
      if (allEqual(values)) return 0;
      const centred = value - mean(values);
      return scale === "none" ? centred : centred / (sampleDeviation(values) + epsilon);
    };
    const ofEpisodes = creditByAddress(trajectories, "trajectory", against);
    const steps = trajectories.map((each) =>
      discountedToGo(rewardsByTurn(each) ?? [], gamma).map((value, turn) => ({
        state: JSON.stringify([each.groupId, each.states[turn] ?? null]),
        value,
      })),
    );
    const groups = valuesBy(
      steps.flat(),
      ({ state }) => state,
      ({ value }) => value,
    );
    const ofTurns = steps.map((own) =>
      own.map(({ state, value }) => against(value, groups.get(state) ?? [])),
    );
    return trajectories.map(({ tokens }, i) => {
      const whole = episode * Number(ofEpisodes[i] ?? 0);
      return tokens.turn.map((turn) => whole + step * (ofTurns[i]?.[turn] ?? 0));
    });
  },
});

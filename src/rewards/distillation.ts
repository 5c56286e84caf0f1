import { z } from "../base/schema.ts";
import { roleName } from "../trajectory/role.ts";
import { filled, goldTexts } from "../trajectory/gold-texts.ts";
import { type Trajectory, tokenRows } from "../trajectory/trajectory.ts";
import type { ShownSequence } from "./context.ts";
import { type PlacedValue, defineReward } from "./reward.ts";

/**
 * On-policy distillation: each token that the policy sampled gets log π_teacher − log π, at its place. Their mean estimates −KL(policy ‖ teacher) per
 * token, so that the policy gradient of these rewards, each on its own token, lowers the reverse KL where the policy itself goes.
 *
 * The teacher may be the policy itself, as it is at this step, where it reads more than the policy did: `shown`. With `gate` a token gets
 * σ(gate · (log π_teacher − log π)) instead: near 1 where the teacher agrees, near 0 where it does not, never below.
 *
 * Both are at the temperature of the draw. The teacher reads the policy's token ids, so both have one vocabulary. Where the policy's tokens are not on record (a server), where the
 * sequence does not fit the teacher's context, and where there is nothing to show or no question to show it after, a trajectory cannot be scored.
 *
 * Source: Thinking Machines, "On-policy distillation" (2025); GKD, arXiv 2306.13649, with reverse KL on the student's samples; the gate: SDAR,
 * arXiv 2605.15155, and ZJU-REAL/SDAR, verl/trainer/ppo/sdar_utils.py, of whose loss this is the gradient on a fresh batch. Different here:
 * GKD sums the KL over the vocabulary, this is its estimate at the sampled token; SDAR takes the gap anew in each minibatch, this once.
 */
export const distillation = defineReward({
  name: "distillation",
  summary: "Per token: log-probability under a teacher, less the policy's own (reverse KL).",
  source:
    'Thinking Machines, "On-policy distillation" (2025); GKD, arXiv 2306.13649; SDAR, arXiv 2605.15155',
  placed: true,
  options: z.strictObject({
    /** The teacher; `policy`: as it is at this step. */
    role: roleName(),
    /**
     * What the teacher alone reads, right after the question: a hint. {answer}: the first reference. {titles}: of the gold passages.
     * {questions}: the decomposition.
     */
    shown: z.string().min(1).optional(),
    /** Steepness β of the gate (5 in SDAR); without it the plain difference. */
    gate: z.number().positive().optional(),
  }),
  async scoreAll(scored, { role, shown, gate }, { tokenLogprobs }) {
    const rows = scored.map(({ trajectory, task }) => {
      const own = sampledRows(trajectory);
      if (shown === undefined) return own;
      const text = filled(shown, goldTexts(task));
      return text === null
        ? []
        : own.map((row) => ({ ...row, shown: { after: task.question, text } }));
    });
    const found = await tokenLogprobs(rows.flat(), role);
    const valued = (gap: number): number =>
      gate === undefined ? gap : 1 / (1 + Math.exp(-gate * gap));
    let at = 0;
    return rows.map((own) => {
      const teacher = own.map(() => found[at++] ?? null);
      if (own.length === 0 || teacher.includes(null)) return null;
      return own.flatMap(({ places }, r) =>
        places.flatMap((place, i): PlacedValue[] => {
          if (place === null) return [];
          return [{ ...place.at, value: valued((teacher[r]?.[i] ?? NaN) - place.logprob) }];
        }),
      );
    });
  },
});

/** A sequence with the policy's own tokens. */
interface SampledRow extends ShownSequence {
  /** Of each token that the policy sampled, where it stands and with which log-probability; null for others. */
  places: ({ at: { call: number; token: number }; logprob: number } | null)[];
}

/** The sequences of a trajectory in which the policy sampled something; each token is asked about in one of them. */
function sampledRows(trajectory: Trajectory): SampledRow[] {
  const { calls } = trajectory;
  const done = new Set<number>();
  return tokenRows(trajectory).flatMap(
    ({ ids, owners, logprobs, temperatures, callOf, calls: chain }) => {
      const next = new Map(chain.map((call) => [call, -promptLength(calls[call])]));
      const places = ids.map((_, i) => {
        const call = callOf[i] ?? 0;
        const token = next.get(call) ?? 0;
        next.set(call, token + 1);
        const logprob = logprobs[i] ?? NaN;
        const isOwn = owners[i] === "policy" && calls[call]?.role === "policy" && !done.has(call);
        return isOwn && !Number.isNaN(logprob) ? { at: { call, token }, logprob } : null;
      });
      for (const call of chain) done.add(call);
      const isAsked = places.map((place) => place !== null);
      return isAsked.includes(true) ? [{ ids, isAsked, temperatures, places }] : [];
    },
  );
}

function promptLength(call: Trajectory["calls"][number] | undefined): number {
  return (call?.prompt ?? []).reduce((sum, { ids }) => sum + ids.length, 0);
}

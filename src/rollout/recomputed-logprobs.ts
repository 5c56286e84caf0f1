import { formatLoss } from "../base/format.ts";
import { type Engine, type TrainingRow, temperatureField } from "../engine/engine.ts";
import { type Call, type Trajectory, tokenRows } from "../trajectory/trajectory.ts";

/** Result of recomputing log-probabilities. */
export interface RecomputedSummary {
  /** Trajectories with recomputed tokens, and the number of tokens. */
  trajectories: number;
  tokens: number;
  left: Record<"scripted" | "otherWeights" | "otherModel" | "tooLong", number>;
  largest: number;
  mean: number;
}

export interface RecomputeOptions {
  tolerance: number;
  onDrift: (of: string, message: string) => void;
}

/** Trajectories to recompute, in batches, so that memory stays constant. */
export interface Recomputing {
  add(of: string, trajectory: Trajectory): Promise<void>;
  finish(): Promise<RecomputedSummary>;
}

const BATCH = 64;

type Row = { of: string; row: TrainingRow; recorded: readonly number[]; callOf: readonly number[] };

/**
 * Recomputes the log-probabilities of sampled tokens, at the call's temperature over the whole vocabulary, and compares. Skipped are calls
 * of other weights (`policyVersion`) or models, those whose log-probabilities are all 0 (a script's), and too long sequences.
 */
export function recomputeLogprobs(
  engine: Pick<Engine, "logprobs" | "capabilities" | "policyVersion">,
  { tolerance, onDrift }: RecomputeOptions,
): Recomputing {
  const left = { scripted: 0, otherWeights: 0, otherModel: 0, tooLong: 0 };
  const sum = { tokens: 0, difference: 0, largest: 0 };
  let trajectories = 0;
  let waiting: Row[] = [];
  const flush = async (): Promise<void> => {
    const rows = waiting;
    waiting = [];
    if (rows.length === 0) return;
    const computed = await engine.logprobs(rows.map(({ row }) => row));
    const worst = new Map<string, { difference: number; message: string }>();
    rows.forEach(({ of, recorded, callOf }, i) => {
      recorded.forEach((known, t) => {
        if (Number.isNaN(known)) return;
        const own = computed[i]?.[t] ?? NaN;
        const difference = Math.abs(own - known);
        sum.tokens += 1;
        sum.difference += difference;
        sum.largest = Math.max(sum.largest, difference);
        // NaN counts as the largest difference.
        if (difference <= tolerance || difference < (worst.get(of)?.difference ?? 0)) return;
        const message = `calls[${callOf[t] ?? 0}]: a token was recorded at ${formatLoss(known)} and is ${formatLoss(own)} under the model: ${formatLoss(difference)} nats apart, ${tolerance} are allowed.`;
        worst.set(of, { difference, message });
      });
    });
    for (const [of, { message }] of worst) onDrift(of, message);
  };
  return {
    async add(of, trajectory) {
      const { maxPositions } = engine.capabilities;
      const wanted = trajectory.calls.map((call) => {
        const why = reasonToLeave(call, engine.policyVersion);
        if (why !== null && why !== "nothing") left[why] += 1;
        return why === null;
      });
      const seen = new Set<number>();
      for (const { ids, logprobs, temperatures, callOf, calls } of tokenRows(trajectory)) {
        const fresh = calls.filter((call) => wanted[call] === true && !seen.has(call));
        if (fresh.length === 0) continue;
        if (ids.length > maxPositions) {
          left.tooLong += fresh.length;
          continue;
        }
        for (const call of fresh) seen.add(call);
        const recorded = logprobs
          .map((logprob, i) => (fresh.includes(callOf[i] ?? -1) ? logprob : NaN))
          .slice(1);
        const weights = recorded.map((each) => (Number.isNaN(each) ? 0 : 1));
        const fields = { weights, ...temperatureField(temperatures.slice(1)) };
        const row = { inputs: ids.slice(0, -1), targets: ids.slice(1), fields };
        waiting.push({ of, row, recorded, callOf: callOf.slice(1) });
      }
      if (seen.size > 0) trajectories += 1;
      if (waiting.length >= BATCH) await flush();
    },
    async finish() {
      await flush();
      const { tokens, difference, largest } = sum;
      return { trajectories, tokens, left, largest, mean: tokens === 0 ? 0 : difference / tokens };
    },
  };
}

/** Why a call is not compared; "nothing": it has no sampled token. null: it is compared. */
function reasonToLeave(
  { role, policyVersion, completion }: Call,
  version: number,
): keyof RecomputedSummary["left"] | "nothing" | null {
  const sampled = completion.flatMap(({ logprobs }) => logprobs ?? []);
  if (sampled.length === 0) return "nothing";
  if (role !== "policy") return "otherModel";
  if (policyVersion !== null && policyVersion !== version) return "otherWeights";
  return sampled.every((each) => each === 0) ? "scripted" : null;
}

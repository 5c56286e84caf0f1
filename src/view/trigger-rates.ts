import type { DrawnQuestion } from "../synth/draw-log.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";

/** Tool use of one draw's trajectories, with and without hints. */
export interface TriggerRate {
  draw: string;
  /** Trajectories with a hint; among them those in which a tool ran, and ran after the first hint. */
  hinted: { trajectories: number; tools: number; after: number };
  plain: { trajectories: number; tools: number };
}

/** One pass over draws; failed ones do not count. */
export async function triggerRates(draws: AsyncIterable<DrawnQuestion>): Promise<TriggerRate[]> {
  const rates = new Map<string, TriggerRate>();
  for await (const { candidates } of draws) {
    for (const { trajectory, provenance } of candidates) {
      if (trajectory.error !== undefined) continue;
      const { name } = provenance.draw;
      const rate = rates.get(name) ?? emptyRate(name);
      rates.set(name, rate);
      addTo(rate, trajectory);
    }
  }
  return [...rates.values()];
}

function emptyRate(draw: string): TriggerRate {
  return {
    draw,
    hinted: { trajectories: 0, tools: 0, after: 0 },
    plain: { trajectories: 0, tools: 0 },
  };
}

function addTo({ hinted, plain }: TriggerRate, { hints = [], turns }: Trajectory): void {
  const used = turns.filter(({ observations }) => observations.length > 0);
  const of = hints.length > 0 ? hinted : plain;
  of.trajectories += 1;
  of.tools += used.length > 0 ? 1 : 0;
  const first = hints[0]?.call;
  if (first !== undefined) hinted.after += used.some(({ call }) => call >= first) ? 1 : 0;
}

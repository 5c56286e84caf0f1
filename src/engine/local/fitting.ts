import { type EngineLoad, forecastMemory, leastMemory, type MemoryForecast } from "./forecast.ts";

/** A load that fits a budget. */
export type Fitting = { load: EngineLoad; forecast: MemoryForecast };

/** The load, or the first that fits with cheaper changes first (micro-batches, recomputation, 16 bits, workers, slots); else null. */
export function largestFitting(load: EngineLoad, budget: number): Fitting | null {
  const fitted = (each: EngineLoad): Fitting | null => {
    // A forecast builds graphs, which takes seconds for a large model.
    if (leastMemory(each) > budget) return null;
    const forecast = forecastMemory(each);
    return forecast.total <= budget ? { load: each, forecast } : null;
  };
  for (const loads of smallerLoads(load)) {
    // If even the smallest load does not fit, skip the others.
    const least = fitted(loads.at(-1)!);
    if (least === null) continue;
    for (const each of loads.slice(0, -1)) {
      const fitting = fitted(each);
      if (fitting !== null) return fitting;
    }
    return least;
  }
  return null;
}

/** Lists of loads that differ in one setting, the largest first; each list makes a more expensive change than the one before. */
function* smallerLoads(load: EngineLoad): Generator<EngineLoad[]> {
  const selective = load.recompute === false ? { ...load, recompute: "selective" as const } : load;
  const again = load.recompute === true ? load : { ...load, recompute: true };
  const halves = load.lora !== null && load.frozen === null && load.lossless !== null;
  const halved = halves ? { ...again, frozen: load.lossless } : again;
  for (const workers of new Set([load.workers, 1])) {
    for (const each of new Set([load, selective, again, halved])) {
      const sizes = halvings(load.microBatchTokens, load.rowTokens);
      yield sizes.map((microBatchTokens) => ({ ...each, workers, microBatchTokens }));
    }
  }
  const microBatchTokens = Math.min(load.microBatchTokens, load.rowTokens);
  const least = { ...halved, workers: 1, microBatchTokens };
  const slots = halvings(load.slots, 1).slice(1);
  if (slots.length > 0) yield slots.map((each) => ({ ...least, slots: each }));
}

function halvings(number: number, least: number): number[] {
  if (number <= least) return [number];
  return [number, ...halvings(Math.max(least, Math.floor(number / 2)), least)];
}

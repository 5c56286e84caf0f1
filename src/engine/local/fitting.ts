import { type EngineLoad, forecastMemory, type MemoryForecast } from "./forecast.ts";

/** How a load over a budget can be made to fit it. */
export interface Fitting {
  load: EngineLoad;
  forecast: MemoryForecast;
}

/**
 * The load itself where it fits; else with what costs least changed until it does: smaller micro-batches down to one sequence, then layers
 * computed again, then frozen weights in 16 bits where that rounds nothing, then fewer workers, then fewer slots.
 * @returns null where even that does not fit.
 */
export function largestFitting(load: EngineLoad, budget: number): Fitting | null {
  const fitted = (each: EngineLoad): Fitting | null => {
    const forecast = forecastMemory(each);
    return forecast.total <= budget ? { load: each, forecast } : null;
  };
  for (const loads of smallerLoads(load)) {
    // Where not even the least fits, the others need not be planned.
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

/** Loads that differ in one setting, the largest first; what is changed beside it costs more from list to list. */
function* smallerLoads(load: EngineLoad): Generator<EngineLoad[]> {
  const again = load.recompute ? load : { ...load, recompute: true };
  const halves = load.lora !== null && load.frozen === null && load.lossless !== null;
  const halved = halves ? { ...again, frozen: load.lossless } : again;
  for (const workers of new Set([load.workers, 1])) {
    for (const each of new Set([load, again, halved])) {
      const sizes = halvings(load.microBatchTokens, load.rowTokens);
      yield sizes.map((microBatchTokens) => ({ ...each, workers, microBatchTokens }));
    }
  }
  const microBatchTokens = Math.min(load.microBatchTokens, load.rowTokens);
  const least = { ...halved, workers: 1, microBatchTokens };
  const slots = halvings(load.slots, 1).slice(1);
  if (slots.length > 0) yield slots.map((each) => ({ ...least, slots: each }));
}

/** A number, its half, a quarter and so on, down to `least`; itself alone where that is more. */
function halvings(number: number, least: number): number[] {
  if (number <= least) return [number];
  return [number, ...halvings(Math.max(least, Math.floor(number / 2)), least)];
}

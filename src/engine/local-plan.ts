/** What a plan must know of the local engine, without opening it: memory, micro-batches. */
export { largestRun } from "./local/batching.ts";
export { type Fitting, largestFitting } from "./local/fitting.ts";
export { type EngineLoad, forecastMemory, type MemoryForecast } from "./local/forecast.ts";
export { heldType } from "./local/frozen-weights.ts";
export { requireSampling } from "./local/storage-dtypes.ts";
export { defaultWorkers } from "./local/worker-link.ts";

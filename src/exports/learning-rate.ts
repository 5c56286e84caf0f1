import { type Scheduled, valueAt } from "../base/schedule.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { algorithmOf, updatesPerStep } from "./shared-rules.ts";

/** Optimizer steps of the whole run. */
function optimizerSteps(settings: Settings): number {
  return Math.max(1, algorithmOf(settings).steps * updatesPerStep(settings));
}

/** Learning rates of all optimizer steps. */
export function learningRates(settings: Settings): number[] {
  const { learningRate } = algorithmOf(settings).optimizer;
  const count = optimizerSteps(settings);
  return Array.from({ length: count }, (_, step) => valueAt(learningRate, step, count));
}

/** A schedule as trainers with their own schedulers have it. */
interface PlainSchedule {
  kind: "constant" | "cosine";
  /** After the warm-up. */
  value: number;
  /** Where cosine ends, as a share of `value`. */
  end: number;
  /** Optimizer steps. */
  warmup: number;
}

/** The schedule in those words; null for one that they do not have. */
export function plainSchedule(rate: Scheduled, settings: Settings): PlainSchedule | null {
  if (typeof rate === "number") return { kind: "constant", value: rate, end: 1, warmup: 0 };
  if (rate.schedule !== "constant" && rate.schedule !== "cosine") return null;
  const unit = rate.unit === "steps" ? 1 : Math.max(optimizerSteps(settings) - 1, 1);
  const warmup = Math.ceil(rate.warmup * unit);
  if (rate.schedule === "constant") return { kind: "constant", value: rate.value, end: 1, warmup };
  if (rate.start !== 0 || rate.end !== undefined || rate.from <= 0) return null;
  return { kind: "cosine", value: rate.from, end: rate.to / rate.from, warmup };
}

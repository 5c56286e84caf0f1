import { totalmem } from "node:os";
import {
  defaultWorkers,
  type EngineLoad,
  type Fitting,
  largestFitting,
  type MemoryForecast,
} from "../../engine/local-plan.ts";
import type { LoraConfig } from "../../models/lora/lora.ts";
import { targetModules } from "../../models/lora/target-modules.ts";
import { parameterCount } from "../../models/parameters.ts";
import { publishedShapes } from "../../models/published-shapes.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { LongestSequence } from "./longest-sequence.ts";
import type { Work } from "./batch-plan.ts";

/** Settings with which a recipe fits. */
export interface Remedy {
  settings: Record<string, number | boolean | string>;
  forecast: MemoryForecast;
}

/** Bytes of the machine that are left to the system and to other programs: 1.5 GB, of a small machine a quarter. */
const SYSTEM_BYTES = 1.5e9;

/** Bytes that a process may take here: the machine's, or the container's where that has less, without what the system needs. */
export function machineBudget(): number {
  const limit = process.constrainedMemory();
  const total = limit > 0 ? Math.min(totalmem(), limit) : totalmem();
  return total - Math.min(SYSTEM_BYTES, total / 4);
}

/** What the engine is asked to hold, by the settings, for sequences of at most such a length. */
export function loadOf(
  { engine }: Settings,
  given: { work: Work; longest: LongestSequence } & Pick<
    EngineLoad,
    "config" | "lora" | "device" | "frozen" | "lossless" | "sampling"
  >,
): EngineLoad {
  const { work, longest, ...model } = given;
  const { slots, microBatchTokens, recompute } = engine;
  const written = Math.min(1, longest.messages.tokens / longest.tokens);
  return {
    ...model,
    workers: engine.workers ?? defaultWorkers(model.device, model.config),
    slots,
    microBatchTokens,
    recompute,
    rowTokens: longest.tokens,
    scoredShare: work.scoresAll ? 1 : written,
    loss: work.loss,
    references: work.readsReference ? 1 : 0,
    samples: work.stage === "train",
    sequences: work.steps * work.epochs * work.prompts * work.groupSize * work.leaves,
    critic: work.critic,
    scores: work.scorings > 0 ? "logprobs" : work.critic === "shared" ? "values" : null,
  };
}

/** The settings by which a smaller load differs, by their keys in a recipe. */
export function remedyOf(asked: EngineLoad, { load, forecast }: Fitting): Remedy {
  const keys = ["workers", "recompute", "microBatchTokens", "slots"] as const;
  const changed = keys.filter((key) => load[key] !== asked[key]);
  const settings: Remedy["settings"] = Object.fromEntries(
    changed.map((key) => [`engine.${key}`, load[key]]),
  );
  if (load.frozen !== asked.frozen) settings["engine.frozenWeights"] = "auto";
  if (load.lora !== null && asked.lora === null) settings["policy.lora.rank"] = load.lora.rank;
  return { settings, forecast };
}

/** Adapters as a recipe has them that says no more than `policy.lora: {}`. */
const PLAIN_LORA: LoraConfig = { rank: 16, alpha: 32, rslora: false, targets: targetModules };

/** A remedy with another model, or (`model` null) with adapters over this one. */
export type SmallerModel = Remedy & { model: string | null };

/** What would fit where no load of this model does. */
export function smallerModel(asked: EngineLoad, budget: number): SmallerModel | null {
  const lora = asked.lora ?? PLAIN_LORA;
  const own = asked.lora === null ? largestFitting({ ...asked, lora }, budget) : null;
  if (own !== null) return { model: null, ...remedyOf(asked, own) };
  const size = parameterCount(asked.config);
  const smaller = publishedShapes
    // Weights alone are 4 bytes a parameter.
    .filter(({ parameters }) => parameters < size && 4 * parameters < budget)
    .sort((a, b) => b.parameters - a.parameters);
  for (const { name, config } of smaller) {
    const fitting = largestFitting({ ...asked, config, lora }, budget);
    if (fitting !== null) return { model: name, ...remedyOf(asked, fitting) };
  }
  return null;
}

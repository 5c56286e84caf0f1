import {
  type EngineLoad,
  forecastMemory,
  heldType,
  requireSampling,
  largestFitting,
  type MemoryForecast,
} from "../../engine/local-plan.ts";
import type { HalfType } from "../../autodiff/frozen.ts";
import { trainedSpecs, type LoraConfig } from "../../models/lora/lora.ts";
import { parameterCount, totalSize } from "../../models/parameters.ts";
import type { StoredType } from "../../models/stored-numbers.ts";
import { isResident, type DeviceName } from "../../onnx/device-names.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import { requireAheadFits } from "../checks/off-policy.ts";
import { requireRemoteEngine } from "../checks/remote-engine.ts";
import { batchOf, type BatchPlan, type Work } from "./batch-plan.ts";
import { type LongestSequence, longestSequence } from "./longest-sequence.ts";
import {
  loadOf,
  machineBudget,
  type Remedy,
  remedyOf,
  type SmallerModel,
  smallerModel,
} from "./memory-plan.ts";
import type { PlannedModel } from "./planned-model.ts";
import { plannableStages, type PlannedStage, type PlannedStages, workOf } from "./planned-work.ts";

/** How weights are held that adapters leave as they are. */
export interface FrozenPlan {
  held: HalfType | "float32";
  /** As which they are stored; null where that is not known. */
  stored: StoredType | null;
}

/** What a recipe would take. */
export interface Plan {
  /** Of a recipe of several stages, the numbers and names of all, and of the one that this is a plan of; else null. */
  stages: PlannedStages | null;
  model: {
    from: string;
    architecture: string;
    parameters: number;
    trained: number;
    lora: LoraConfig | null;
    /** How the matrices under adapters are held; null where none is frozen. */
    frozen: FrozenPlan | null;
  };
  /** `chosen` is what the forecast is for; `asked` may be `auto`. */
  device: { asked: Settings["engine"]["device"]; chosen: DeviceName };
  batch: BatchPlan;
  /** Of the process, or on a device with memory of its own of that; bytes. `budget` is null where none is known. */
  memory: MemoryForecast & { budget: number | null; fits: boolean | null };
  /** The training server that computes, whose memory is not known here; null: this machine. */
  server: string | null;
  /** Over the budget: what fits; null where nothing does, and where the load itself fits. */
  fitting: Remedy | null;
  /** Where nothing fits: what would with adapters in place of all weights (`model` null), or else the largest known model. */
  smallest: SmallerModel | null;
}

/** What a plan and its trial begin from. */
export interface PlannedRun {
  /** Settings of the recipe, or of the stage that is planned of several. */
  resolved: ResolvedSettings<Settings>;
  stages: PlannedStages | null;
  model: PlannedModel;
  /** Adapters that are trained in place of the weights. */
  lora: LoraConfig | null;
  work: Work;
  longest: LongestSequence;
  load: EngineLoad;
  forecast: MemoryForecast;
}

/**
 * What is planned of a recipe: its one training, or of several stages the one that holds most memory.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe trains nothing.
 */
export async function plannedRun(
  recipe: ResolvedSettings<Settings>,
  model: PlannedModel,
): Promise<PlannedRun> {
  const runs = (await plannableStages(recipe, model.config.maxPositions)).map((stage) =>
    plannedRunOf(stage, model),
  );
  return runs.reduce((most, run) => (run.forecast.total > most.forecast.total ? run : most));
}

function plannedRunOf({ resolved, stage, stages }: PlannedStage, model: PlannedModel): PlannedRun {
  const { settings } = resolved;
  requireRemoteEngine(settings);
  requireAheadFits(settings);
  const { config } = model;
  const device = settings.engine.device === "auto" ? "cpu" : settings.engine.device;
  const lora = settings.policy.lora ?? model.lora;
  const work = workOf(resolved, stage);
  const longest = longestSequence(settings, config.maxPositions);
  const frozen = heldType(settings.engine.frozenWeights, device, model.stored);
  const halves = { frozen, lossless: heldType("auto", device, model.stored) };
  const { samplingWeights: sampling } = settings.engine;
  requireSampling(sampling, device);
  const load = loadOf(settings, { config, lora, device, work, longest, sampling, ...halves });
  const forecast = forecastMemory(load);
  return { resolved, stages, model, lora, work, longest, load, forecast };
}

/**
 * Plans a run without loading a model or starting anything: batch arithmetic, and memory part by part.
 *
 * @param options.memory bytes that the run may take; null takes the machine's less what the system needs, and for a device with
 *   memory of its own, whose size is not known here, no budget.
 */
export function planRecipe(run: PlannedRun, options: { memory: number | null }): Plan {
  const { resolved, stages, model, lora, work, longest, load, forecast } = run;
  const { config, from } = model;
  const { name, url = null } = resolved.settings.engine;
  const isElsewhere = isResident(load.device) || name === "tinker";
  const budget = options.memory ?? (isElsewhere ? null : machineBudget());
  const fits = budget === null ? null : forecast.total <= budget;
  const fitting = budget === null || fits === true ? null : largestFitting(load, budget);
  const frozen = { held: load.frozen ?? ("float32" as const), stored: model.stored };
  return {
    stages,
    model: {
      from,
      architecture: config.architecture,
      parameters: parameterCount(config),
      trained: totalSize(trainedSpecs(config, lora)),
      lora,
      frozen: lora === null ? null : frozen,
    },
    device: { asked: resolved.settings.engine.device, chosen: load.device },
    batch: batchOf(work, longest, load),
    memory: { ...forecast, budget, fits },
    server: name === "tinker" ? url : null,
    fitting: fitting && remedyOf(load, fitting),
    smallest:
      budget === null || fits === true || fitting !== null ? null : smallerModel(load, budget),
  };
}

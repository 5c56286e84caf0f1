import { closeSync, openSync, readSync, statSync } from "node:fs";
import { totalmem } from "node:os";
import { join } from "node:path";
import type { HalfType } from "../autodiff/frozen.ts";
import { ConfigError } from "../base/errors.ts";
import { quote } from "../base/schema.ts";
import { microBatchShape } from "../engine/local/batching.ts";
import {
  type EngineLoad,
  type Fitting,
  forecastMemory,
  largestFitting,
  type MemoryForecast,
} from "../engine/local/forecast.ts";
import { heldType } from "../engine/local/frozen-weights.ts";
import { defaultWorkers } from "../engine/local/worker-link.ts";
import type { LossSpec } from "../losses/loss.ts";
import { targetModules, trainedSpecs, type LoraConfig } from "../models/lora/lora.ts";
import { parameterCount, totalSize } from "../models/parameters.ts";
import { publishedShapes } from "../models/published-shapes.ts";
import type { StoredType } from "../models/stored-numbers.ts";
import type { DeviceName } from "../onnx/device-names.ts";
import { algorithms } from "../train/index.ts";
import type { OnPolicyOptions } from "../train/on-policy.ts";
import type { SftSamplesSettings } from "../train/sft.ts";
import { SAMPLE_FILES } from "../trajectory/sample-files.ts";
import { longestSequence, type LongestSequence } from "./longest-sequence.ts";
import type { PlannedModel } from "./planned-model.ts";
import { type Settings, settingsSchema } from "./settings-schema.ts";
import { type ResolvedSettings, withOverrides } from "./settings.ts";
import { hasStages } from "./sft-settings.ts";
import { type Stage, stageList } from "./stages.ts";

/** What one step is made of, at most: every trajectory as long as its budgets allow. */
export interface BatchPlan {
  /** What runs it: `agentrl train`, or `agentrl sft` for a recipe of supervised stages alone. */
  command: "train" | "sft";
  /** Questions a step; of a supervised stage, trajectories. */
  prompts: number;
  groupSize: number;
  trajectories: number;
  longest: LongestSequence;
  /** Times the batch is gone through, and parts that it is dealt into: together the optimiser's steps. */
  epochs: number;
  minibatches: number;
  optimizerSteps: number;
  /** Sequences of the longest kind that are run together, and how often a worker's turn comes in a step, all workers together. */
  microBatch: { sequences: number; perStep: number };
  steps: number;
  /** Tokens in all steps together, at most; padding left out. Evaluations come on top. */
  tokens: { sampled: number; trained: number };
}

/** How weights are held that adapters leave as they are. */
export interface FrozenPlan {
  held: HalfType | "float32";
  /** As which they are stored; null where that is not known. */
  stored: StoredType | null;
}

/** Settings with which a recipe fits. */
interface Remedy {
  settings: Record<string, number | boolean | string>;
  forecast: MemoryForecast;
}

/** What a recipe would take. */
export interface Plan {
  /** Of a recipe of several stages, the numbers and names of all, and of the one that this is a plan of; else null. */
  stages: { all: string[]; planned: string } | null;
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
  /** Over the budget: what fits; null where nothing does, and where the load itself fits. */
  fitting: Remedy | null;
  /** Where nothing fits: what would with adapters in place of all weights (`model` null), or else the largest known model. */
  smallest: (Remedy & { model: string | null }) | null;
}

/** Bytes of the machine that are left to the system and to other programs: 1.5 GB, of a small machine a quarter. */
const SYSTEM_BYTES = 1.5e9;

/**
 * Plans a recipe without loading a model or starting anything: batch arithmetic, and memory part by part.
 *
 * @param options.memory bytes that the run may take; null takes the machine's less what the system needs, and for a device with
 *   memory of its own, whose size is not known here, no budget.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe trains nothing.
 */
export function planRecipe(
  recipe: ResolvedSettings<Settings>,
  model: PlannedModel,
  options: { memory: number | null },
): Plan {
  const { resolved, stage, stages } = plannedStage(recipe);
  const { settings } = resolved;
  const { config, from } = model;
  const asked = settings.engine.device;
  const chosen = asked === "auto" ? "cpu" : asked;
  const lora = settings.policy.lora ?? model.lora;
  const work = workOf(resolved, stage);
  const longest = longestSequence(settings, config.maxPositions);
  const frozen = heldType(settings.engine.frozenWeights, chosen, model.stored);
  const halves = { frozen, lossless: heldType("auto", chosen, model.stored) };
  const load = loadOf(settings, { config, lora, device: chosen, work, longest, ...halves });
  const forecast = forecastMemory(load);
  const budget = options.memory ?? (chosen === "webgpu" ? null : machineBudget());
  const fits = budget === null ? null : forecast.total <= budget;
  const fitting = budget === null || fits === true ? null : largestFitting(load, budget);
  return {
    stages,
    model: {
      ...{ from, architecture: config.architecture, parameters: parameterCount(config) },
      ...{ trained: totalSize(trainedSpecs(config, lora)), lora },
      frozen: lora === null ? null : { held: frozen ?? "float32", stored: model.stored },
    },
    device: { asked, chosen },
    batch: batchOf(work, longest, load),
    memory: { ...forecast, budget, fits },
    fitting: fitting && remedyOf(load, fitting),
    smallest:
      budget === null || fits === true || fitting !== null ? null : smallerModel(load, budget),
  };
}

/** Bytes that a process may take here: the machine's, or the container's where that has less, without what the system needs. */
function machineBudget(): number {
  const limit = process.constrainedMemory();
  const total = limit > 0 ? Math.min(totalmem(), limit) : totalmem();
  return total - Math.min(SYSTEM_BYTES, total / 4);
}

/** What a step does, whichever command runs it. */
interface Work extends Pick<
  BatchPlan,
  "command" | "prompts" | "groupSize" | "epochs" | "minibatches" | "steps"
> {
  loss: LossSpec;
  /** Whether tokens that the policy did not write are trained as well. */
  scoresAll: boolean;
}

/** The stage that is planned of several, its settings on top: the first that reinforces, which holds most, or else that fine-tunes. */
function plannedStage(resolved: ResolvedSettings<Settings>): {
  resolved: ResolvedSettings<Settings>;
  stage: "train" | "sft" | null;
  stages: Plan["stages"];
} {
  const { settings, recipe } = resolved;
  if (settings.stages === undefined) return { resolved, stage: null, stages: null };
  const list = stageList(settings.stages);
  const nameOf = ({ number, name }: Stage): string => `${number}-${name}`;
  for (const kind of ["train", "sft"] as const) {
    const found = list.find((each) => each.do === kind);
    if (found === undefined) continue;
    const origin = `stage ${found.number} (${found.name})`;
    const own = Object.entries(found.set).map(([key, value]) => ({ key, value, origin }));
    return {
      resolved: withOverrides(settingsSchema, resolved, own),
      stage: kind,
      stages: { all: list.map(nameOf), planned: nameOf(found) },
    };
  }
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `${recipe.path}: none of its stages is train or sft, so there is no training to plan.`,
  );
}

function workOf(
  { settings, recipe }: ResolvedSettings<Settings>,
  stage: "train" | "sft" | null,
): Work {
  const { algorithm, sft } = settings;
  if (algorithm !== undefined && stage !== "sft") {
    const { name, ...options } = algorithm;
    const given = options as unknown as OnPolicyOptions;
    return {
      ...{ command: "train", prompts: given.promptsPerStep, groupSize: given.groupSize },
      ...{ epochs: given.epochs, minibatches: given.minibatches, steps: given.steps },
      loss: algorithms.get(name, "algorithm").loss(options),
      scoresAll: given.lossOn.some((owner) => owner !== "policy"),
    };
  }
  if (sft === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${recipe.path}: has neither "algorithm" nor "sft", so there is no training to plan; add one (algorithms: ${algorithms.names.join(", ")}).`,
    );
  }
  return {
    ...{ command: "sft", groupSize: 1, epochs: 1, minibatches: 1 },
    ...(hasStages(sft)
      ? {
          prompts: sft.trajectoriesPerStep,
          steps: sft.stages.reduce((sum, { steps }) => sum + steps, 0),
        }
      : samplesWork(sft, recipe.path)),
    loss: { name: "cross-entropy", options: {} },
    scoresAll: sft.observationWeight > 0,
  };
}

/** Samples a step, and steps, all samples being of the longest kind: of a batch that is filled by tokens each is then alone. */
function samplesWork(
  { data, batch, epochs }: SftSamplesSettings,
  where: string,
): Pick<Work, "prompts" | "steps"> {
  const file = [data, data === undefined ? undefined : join(data, SAMPLE_FILES.samples)].find(
    (path) => path !== undefined && statSync(path, { throwIfNoEntry: false })?.isFile() === true,
  );
  if (file === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${where}: sft learns from samples, and there are none at sft.data (${data ?? "not set"}), so its steps cannot be counted. Draw them first, and name them with --set sft.data=FOLDER.`,
    );
  }
  const prompts = batch.unit === "samples" ? batch.size : 1;
  return { prompts, steps: epochs * Math.ceil(lineCount(file) / prompts) };
}

/** Lines of a file, read in pieces of a megabyte. */
function lineCount(file: string): number {
  const piece = Buffer.alloc(2 ** 20);
  const handle = openSync(file, "r");
  let lines = 0;
  try {
    for (let read = readSync(handle, piece); read > 0; read = readSync(handle, piece)) {
      for (let at = piece.indexOf(10); at >= 0 && at < read; at = piece.indexOf(10, at + 1)) {
        lines += 1;
      }
    }
  } finally {
    closeSync(handle);
  }
  return lines;
}

function loadOf(
  { engine }: Settings,
  given: {
    work: Work;
    longest: LongestSequence;
  } & Pick<EngineLoad, "config" | "lora" | "device" | "frozen" | "lossless">,
): EngineLoad {
  const { work, longest, ...model } = given;
  const { slots, microBatchTokens, recompute } = engine;
  const written = Math.min(1, longest.messages.tokens / longest.tokens);
  return {
    ...model,
    workers: engine.workers ?? defaultWorkers(model.device),
    ...{ slots, microBatchTokens, recompute },
    rowTokens: longest.tokens,
    scoredShare: work.scoresAll ? 1 : written,
    loss: work.loss,
    references: Number(work.loss.options["klCoef"] ?? 0) > 0 ? 1 : 0,
    samples: work.command === "train",
    sequences: work.steps * work.epochs * work.prompts * work.groupSize,
  };
}

function batchOf(work: Work, longest: LongestSequence, load: EngineLoad): BatchPlan {
  const { prompts, groupSize, epochs, minibatches, steps, command } = work;
  const trajectories = prompts * groupSize;
  const optimizerSteps = epochs * minibatches;
  const { batch } = microBatchShape(load.rowTokens, load.microBatchTokens, load.scoredShare);
  // Trajectories are dealt in turn: some parts have one more than others.
  const parts = Array.from({ length: minibatches }, (_, part) =>
    Math.ceil((trajectories - part) / minibatches),
  );
  const perEpoch = parts.reduce((sum, count) => sum + Math.ceil(count / batch), 0);
  const sampled = command === "train" ? trajectories * longest.messages.tokens : 0;
  return {
    ...{ command, prompts, groupSize, trajectories, longest, epochs, minibatches, optimizerSteps },
    microBatch: { sequences: batch, perStep: epochs * perEpoch },
    steps,
    tokens: { sampled: steps * sampled, trained: steps * epochs * trajectories * longest.tokens },
  };
}

/** The settings by which a smaller load differs, by their keys in a recipe. */
function remedyOf(asked: EngineLoad, { load, forecast }: Fitting): Remedy {
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

/** What would fit where no load of this model does. */
function smallerModel(asked: EngineLoad, budget: number): Plan["smallest"] {
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

const UNITS: Readonly<Record<string, number>> = {
  ...{ MB: 1e6, GB: 1e9, TB: 1e12 },
  ...{ MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40 },
};

/**
 * Bytes of an amount of memory as people write it.
 * @throws {ConfigError} RECIPE_BAD_VALUE
 * @example parseMemory("24GB", "--memory") // 24_000_000_000
 */
export function parseMemory(text: string, where: string): number {
  const [, amount = "", unit = ""] = /^(\d+(?:\.\d+)?)\s*([A-Za-z]+)$/.exec(text.trim()) ?? [];
  const found = Object.keys(UNITS).find((name) => name.toLowerCase() === unit.toLowerCase());
  const bytes = Number(amount) * (UNITS[found ?? ""] ?? NaN);
  if (bytes > 0) return bytes;
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `${where} is ${quote(text)}: expected a number above 0 with its unit (${Object.keys(UNITS).join(", ")}), e.g. 24GB.`,
  );
}

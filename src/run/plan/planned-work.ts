import { closeSync, openSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { openStrategy } from "../../rollout/strategies/named-strategy.ts";
import { algorithms, criticTrunkOf, readsReference } from "../../algorithms/index.ts";
import { lossesOf, type OnPolicyOptions, recomputesOld } from "../../algorithms/algorithm.ts";
import type { SftSamplesSettings } from "../../algorithms/sft.ts";
import { SAMPLE_FILES } from "../../trajectory/sample-files.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import { hasCurriculum } from "../settings/sft-settings.ts";
import { partOf } from "../driver.ts";
import { atStage } from "../stages/stage-settings.ts";
import { type Stage, stageList } from "../settings/stages.ts";
import type { StageWork } from "../stages/stage.ts";
import type { Work } from "./batch-plan.ts";
import { longestSequence } from "./longest-sequence.ts";

/** Of a recipe of several stages, the numbers and names of all, and of the one that is planned. */
export interface PlannedStages {
  all: string[];
  planned: string;
  /** What each does, at most. */
  work: (StageWork & { name: string; do: string })[];
}

/** What may be planned of a recipe: a stage and its settings, or the recipe itself where it has no stages. */
export interface PlannedStage {
  resolved: ResolvedSettings<Settings>;
  stage: "train" | "sft" | null;
  stages: PlannedStages | null;
}

/** The stages that reinforce, or where there is none those that fine-tune, each with its settings on top; of a repeated one the first. */
export async function plannableStages(
  resolved: ResolvedSettings<Settings>,
  maxPositions: number,
): Promise<PlannedStage[]> {
  const { settings, recipe } = resolved;
  if (settings.stages === undefined) return [{ resolved, stage: null, stages: null }];
  const list = stageList(settings.stages);
  const nameOf = ({ number, name }: Stage): string => `${number}-${name}`;
  const own = await Promise.all(list.map((each) => atStage(resolved, each)));
  const work = list.map((stage, i) => {
    const { settings: of } = own[i] ?? resolved;
    const planned = partOf(stage).plan?.(of, longestSequence(of, maxPositions));
    return { name: nameOf(stage), do: stage.do, ...(planned ?? UNKNOWN) };
  });
  const all = list.map(nameOf);
  for (const kind of ["train", "sft"] as const) {
    const found = list.filter((each) => each.do === kind);
    if (found.length === 0) continue;
    const distinct = found.filter(
      (each, i) => found.findIndex(({ set }) => set === each.set) === i,
    );
    return distinct.map((each) => ({
      resolved: own[each.number - 1] ?? resolved,
      stage: kind,
      stages: { all, planned: nameOf(each), work },
    }));
  }
  throw new ConfigError(
    "RECIPE_BAD_VALUE",
    `${recipe.path}: none of its stages is train or sft, so there is no training to plan.`,
  );
}

/** Of a stage that does not say what it does. */
const UNKNOWN: StageWork = { steps: null, sampled: null, trained: null };

export function workOf(
  { settings, recipe }: ResolvedSettings<Settings>,
  stage: "train" | "sft" | null,
): Work {
  const { algorithm, sft } = settings;
  if (algorithm !== undefined && stage !== "sft") {
    const { name, ...options } = algorithm;
    const given = options as unknown as OnPolicyOptions;
    const losses = lossesOf(algorithms.get(name, "algorithm"), given);
    const [loss = { name: "policy-gradient", options: {} }] = losses;
    return {
      stage: "train",
      prompts: given.promptsPerStep,
      groupSize: given.groupSize,
      leaves: openStrategy(settings.strategy, "strategy").leaves,
      epochs: given.epochs,
      minibatches: given.minibatches,
      steps: given.steps,
      loss,
      scoresAll: given.lossOn.some((owner) => owner !== "policy"),
      scorings: Number(recomputesOld(given)) + Number(readsReference(algorithm)),
      readsReference: readsReference(algorithm),
      critic: criticTrunkOf(algorithm) ?? null,
    };
  }
  if (sft === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${recipe.path}: has neither "algorithm" nor "sft", so there is no training to plan; add one (algorithms: ${algorithms.names.join(", ")}).`,
    );
  }
  return {
    stage: "sft",
    groupSize: 1,
    leaves: 1,
    epochs: 1,
    minibatches: 1,
    ...(hasCurriculum(sft)
      ? {
          prompts: sft.trajectoriesPerStep,
          steps: sft.curriculum.reduce((sum, { steps }) => sum + steps, 0),
        }
      : samplesWork(sft, recipe.path)),
    loss: { name: "cross-entropy", options: {} },
    scoresAll: sft.observationWeight > 0,
    scorings: 0,
    readsReference: false,
    critic: null,
  };
}

/** Samples a step, and steps, all samples being of the longest kind: of a batch that is filled by tokens each is then alone. */
function samplesWork(
  { data, batch, epochs }: SftSamplesSettings,
  where: string,
): Pick<Work, "prompts" | "steps"> {
  const files = data === undefined ? [] : [data].flat().map(sampleFile);
  if (data === undefined || files.includes(undefined)) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${where}: sft learns from samples, and there are none at sft.data (${[data].flat().join(", ") || "not set"}), so its steps cannot be counted. Draw them first, and name them with --set sft.data=FOLDER.`,
    );
  }
  const samples = files.reduce((sum, file) => sum + (file === undefined ? 0 : lineCount(file)), 0);
  const prompts = batch.unit === "samples" ? batch.size : 1;
  return { prompts, steps: epochs * Math.ceil(samples / prompts) };
}

function sampleFile(data: string): string | undefined {
  return [data, join(data, SAMPLE_FILES.samples)].find(
    (path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true,
  );
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

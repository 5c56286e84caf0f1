import { InternalError } from "../base/errors.ts";

import { type Registry, registry } from "../base/registry.ts";

import { cardNames } from "../data/cards/card-names.ts";

import type { DatasetPart } from "../data/dataset.ts";

import type { EnvironmentPart } from "../env/environments/environment.ts";
import type { World } from "../env/world.ts";

/** The dataset of recipes and evaluations that name none. */
export const DEFAULT_DATASET = "tinyworld";

/** Datasets of worlds that were made up to test on: no paper's. */
export const MADE_UP_DATASETS: readonly string[] = [
  ...["tinyworld", "weak-tinyworld", "numberworld", "weak-numberworld", "counting", "arithmetic"],
  ...["reader", "simulator", "judge", "entailment"].map((role) => `${role}-exercises`),
  "verifier-attacks",
];

function ownDataset({ name, datasets: own }: World): DatasetPart {
  const found = own.find((part) => part.name === name);
  if (found !== undefined) return found;
  throw new InternalError("PART_UNKNOWN", `the world ${name} has no dataset.`);
}

/** All datasets: of the worlds, from files, generated and from cards. */
export const datasets: Registry<DatasetPart> = registry("dataset", {
  tinyworld: async () => (await import("./tiny/dataset.ts")).tinyWorldDataset,
  "weak-tinyworld": async () => (await import("./tiny/weak-tinyworld.ts")).weakTinyWorld,
  "reader-exercises": async () => (await import("./tiny/exercises/exercises.ts")).readerExercises,
  "simulator-exercises": async () =>
    (await import("./tiny/exercises/exercises.ts")).simulatorExercises,
  "judge-exercises": async () =>
    (await import("./tiny/exercises/judge-exercises.ts")).judgeExercises,
  "verifier-attacks": async () =>
    (await import("./tiny/exercises/attack-exercises.ts")).attackExercises,
  "entailment-exercises": async () =>
    (await import("./tiny/exercises/exercises.ts")).entailmentExercises,
  numberworld: async () => ownDataset((await import("./numbers/index.ts")).numbers),
  "weak-numberworld": async () => (await import("./numbers/weak-numberworld.ts")).weakNumberWorld,
  counting: async () => ownDataset((await import("./counting/index.ts")).counting),
  "knights-knaves": async () => ownDataset((await import("./knights/index.ts")).knights),
  files: async () => (await import("../data/file-datasets.ts")).filesDataset,
  beir: async () => (await import("../data/file-datasets.ts")).beirDataset,
  "by-tries": async () => (await import("../data/by-tries.ts")).byTries,
  "by-variance": async () => (await import("../data/by-variance.ts")).byVariance,
  composed: async () => (await import("../data/composed.ts")).composed,
  joined: async () => (await import("../data/joined.ts")).joined,
  "one-hop": async () => (await import("../data/one-hop.ts")).oneHop,
  arithmetic: async () => (await import("../data/arithmetic.ts")).arithmetic,
  environment: async () => (await import("../data/environment-tasks.ts")).environmentTasks,
  ...Object.fromEntries(
    cardNames("questions").map((name) => [
      name,
      async () => (await import("../data/cards/card-dataset.ts")).cardDataset(name),
    ]),
  ),
});

/** All environments: those for any question, and those of the worlds. */
export const environments: Registry<EnvironmentPart> = registry("environment", {
  "search-qa": async () => (await import("../env/environments/search-qa.ts")).searchQa,
  "tool-qa": async () => (await import("../env/environments/tool-qa.ts")).toolQa,
  "frozen-lake": async () => (await import("./lake/index.ts")).lake,
  bandit: async () => (await import("./bandit/index.ts")).banditEnvironment,
});

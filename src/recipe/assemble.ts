import { join } from "node:path";
import { packageRoot } from "../base/package-root.ts";
import { datasets, type Dataset } from "../data/datasets.ts";
import { openLocalEngine, type LocalEngine } from "../engine/local/local-engine.ts";
import type { Environment } from "../env/environments/environment.ts";
import { environments } from "../env/environments/index.ts";
import { openRetriever } from "../retrieval/index.ts";
import type { Retriever } from "../retrieval/retriever.ts";
import type { WeightedReward } from "../rollout/score.ts";
import type { Settings } from "./settings-schema.ts";

/** The policy that comes with the package. */
const BASE_POLICY = join(packageRoot, "datasets", "base-policy");

/** The folder of a policy that is named: `base`, or a path. */
export function policyFolder(from: string): string {
  return from === "base" ? BASE_POLICY : from;
}

/** @throws {DataError} when the folder holds no model that can be run. */
export function openEngine(settings: Settings, model: string): Promise<LocalEngine> {
  const { workers, slots, microBatchTokens } = settings.engine;
  return openLocalEngine({
    ...{ model, slots, microBatchTokens },
    ...(workers === undefined ? {} : { workers }),
  });
}

/** Opens what `dataset` or `evaluation.dataset` names. */
export async function openNamedDataset(named: Settings["dataset"]): Promise<Dataset> {
  const { name, ...options } = named;
  return datasets.get(name, "dataset").open(options);
}

/** The recipe's retriever; one that needs a corpus gets the dataset's own. */
export function retrieverOver(dataset: Dataset, settings: Settings): Promise<Retriever> {
  return openRetriever(settings.retriever, () => dataset.passages());
}

export function environmentOver(retriever: Retriever, settings: Settings): Environment {
  const { name, ...options } = settings.environment;
  return environments.get(name, "environment").create(options, { retriever });
}

/** The recipe's rewards, options apart from name and weight. */
export function weightedRewards(settings: Settings): WeightedReward[] {
  return settings.rewards.map(({ name, weight, ...options }) => ({ name, weight, options }));
}

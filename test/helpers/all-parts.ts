// Importing this loads every part, and the schemas that a recipe loads on demand: for tests that read them without a recipe.
import { filters } from "../../src/algorithms/filters/index.ts";
import { algorithms } from "../../src/algorithms/index.ts";
import { samplers } from "../../src/algorithms/samplers/index.ts";
import { withParts } from "../../src/base/registry.ts";
import { metrics } from "../../src/evaluate/metrics/own-metrics.ts";
import { retrievers } from "../../src/retrieval/index.ts";
import { rewards } from "../../src/rewards/index.ts";
import { strategies } from "../../src/rollout/strategies/index.ts";
import { settingsSchema } from "../../src/run/settings/settings-schema.ts";
import { reporters } from "../../src/watch/reporters/index.ts";
import { datasets, environments } from "../../src/worlds/datasets.ts";

const registries = [datasets, environments, retrievers, rewards, strategies];
for (const each of [...registries, algorithms, filters, metrics, samplers, reporters])
  await each.all();

const ofStages = { synth: {}, sft: { curriculum: [] }, preference: {} };
const ofModels = { models: {}, policy: { endpoint: {} }, reward: "1" };
await withParts(() => settingsSchema.safeParse({ ...ofStages, ...ofModels }));
await withParts(() => settingsSchema.parse({ reward: "exact-match" }));

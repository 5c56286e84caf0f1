// Importing this loads every part and every schema of dist/, for pages that list them.
import { algorithms } from "../dist/algorithms/index.js";
import { filters } from "../dist/algorithms/filters/index.js";
import { samplers } from "../dist/algorithms/samplers/index.js";
import { loadSchemas } from "../dist/base/define-part.js";
import { metrics } from "../dist/evaluate/metrics/own-metrics.js";
import { retrievers } from "../dist/retrieval/index.js";
import { rewards } from "../dist/rewards/index.js";
import { strategies } from "../dist/rollout/strategies/index.js";
import "../dist/run/settings/settings-schema.js";
import { reporters } from "../dist/watch/reporters/index.js";
import { datasets } from "../dist/worlds/datasets.js";
import { environments } from "../dist/worlds/datasets.js";

const registries = [algorithms, filters, samplers, datasets, environments, retrievers, rewards];
for (const each of [...registries, metrics, strategies, reporters]) await each.all();
await loadSchemas([]);

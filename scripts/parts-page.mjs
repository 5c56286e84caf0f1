// docs/parts.md: every shipped part that a recipe or a flag names, with its options and source.
import "./load-parts.mjs";
import { z } from "../dist/base/schema.js";
import { algorithms } from "../dist/algorithms/index.js";
import { filters } from "../dist/algorithms/filters/index.js";
import { samplers } from "../dist/algorithms/samplers/index.js";
import { advantageEstimators } from "../dist/advantages/index.js";
import { datasets } from "../dist/worlds/datasets.js";
import { corpusLayouts, taskLayouts } from "../dist/data/layouts/index.js";
import { stageHeads } from "../dist/run/settings/stage-heads.js";
import { environments } from "../dist/worlds/datasets.js";
import { protocols } from "../dist/env/protocols/index.js";
import { tools } from "../dist/env/tools/index.js";
import { answerMetrics } from "../dist/evaluate/metrics/answer-metrics.js";
import { hotpotqaMetrics } from "../dist/evaluate/metrics/hotpotqa-official.js";
import { rowMetrics } from "../dist/evaluate/metrics/index.js";
import { metrics } from "../dist/evaluate/metrics/own-metrics.js";
import { squadV2Metrics } from "../dist/evaluate/metrics/squad-v2-official.js";
import { scoreLayouts } from "../dist/evaluate/score-file.js";
import { exportTargets } from "../dist/exports/targets.js";
import { losses } from "../dist/losses/index.js";
import { preferenceLosses } from "../dist/losses/preference/index.js";
import { architectures } from "../dist/models/architectures/index.js";
import { retrievers } from "../dist/retrieval/index.js";
import { rewards } from "../dist/rewards/index.js";
import { judgePrompts } from "../dist/rewards/judge/judge-prompts.js";
import { hints } from "../dist/rollout/hints/index.js";
import { strategies } from "../dist/rollout/strategies/index.js";
import { taskAnnotations } from "../dist/synth/annotations/index.js";
import { exportFormats } from "../dist/synth/exports/index.js";
import { sampleScorers } from "../dist/synth/scorers/index.js";
import { sampleSelectors } from "../dist/synth/selectors/index.js";
import { synthSteps } from "../dist/synth/steps/index.js";
import { analyzers } from "../dist/text/analyzer.js";
import { normalizations } from "../dist/text/answer-normalizations.js";
import { alarms } from "../dist/watch/alarms/index.js";
import { reporters } from "../dist/watch/reporters/index.js";
import { oneLine, tableOf } from "./markdown.mjs";

const GROUPS = {
  Training: {
    "Algorithms (options: [settings](settings.md))": withoutOptions(algorithms),
    "Advantage estimators": advantageEstimators,
    Losses: losses,
    "Preference losses": preferenceLosses,
    Samplers: samplers,
    Filters: filters,
  },
  Rewards: { "": rewards },
  Rollouts: {
    Environments: environments,
    Tools: tools,
    Protocols: protocols,
    Strategies: strategies,
    Hints: hints,
  },
  Retrieval: { Retrievers: retrievers, Analyzers: analyzers },
  Data: {
    "Datasets (public ones: `agentrl data list`)": datasets,
    "Question layouts": taskLayouts,
    "Corpus layouts": corpusLayouts,
  },
  Models: { "Architectures (`model_type`)": architectures },
  Metrics: {
    "Of an evaluation": rowMetrics,
    "Named by `evaluation.metrics`": withoutOptions(metrics),
    "Of a predictions file, `agentrl score`": answerMetrics,
    Normalisations: normalizations,
    "Layouts of `agentrl score`": scoreLayouts,
    "Layout `hotpotqa`": hotpotqaMetrics,
    "Layout `squad_v2`": squadV2Metrics,
    "Judge prompts": judgePrompts,
  },
  Synthesis: {
    Annotations: taskAnnotations,
    Scores: sampleScorers,
    Steps: synthSteps,
    Selectors: sampleSelectors,
    "Layouts of `synth-data export`": exportFormats,
    "Targets of `recipes export`": exportTargets,
  },
  Stages: { "": stageHeads },
  Alarms: { "": alarms },
  Reporters: { "": reporters },
};

/** Columns of some kinds only. */
const MORE = {
  kind: ({ kind }) => kind,
  normalization: ({ normalization }) => normalization,
  judges: ({ metrics }) => metrics?.map((each) => `\`${each}\``).join(", "),
};

export function partsPage() {
  const sections = Object.entries(GROUPS).map(([group, kinds]) => {
    const tables = Object.entries(kinds).map(
      ([title, { parts }]) => `${title === "" ? "" : `### ${title}\n\n`}${partTable(parts)}`,
    );
    return `## ${group}\n\n${tables.join("\n")}`;
  });
  return `<!-- Generated from the registries by \`npm run generate\`. -->
# Parts

What a recipe or a flag chooses by name. An option is \`name\` or \`name: default\`. Your own parts: [extend](extend.md).

${sections.join("\n")}`;
}

function partTable(parts) {
  const columns = {
    ...MORE,
    options: ({ options }) => optionsText(options),
    source: ({ source }) => source,
  };
  const filled = Object.entries(columns)
    .map(([head, of]) => [head, parts.map((part) => oneLine(of(part) ?? ""))])
    .filter(([, cells]) => cells.some((cell) => cell !== ""));
  const rows = parts.map(({ name, summary }, i) => [
    `\`${name}\``,
    oneLine(summary ?? ""),
    ...filled.map(([, cells]) => cells[i]),
  ]);
  return tableOf(["name", "what it is", ...filled.map(([head]) => head)], rows);
}

function optionsText(options) {
  if (!(options instanceof z.ZodType)) return "";
  const { properties = {} } = z.toJSONSchema(options, { io: "input", unrepresentable: "any" });
  return Object.entries(properties)
    .map(([key, { default: value }]) => {
      if (value === undefined) return `\`${key}\``;
      const text = JSON.stringify(value);
      return text.length > 50 ? `\`${key}\`` : `\`${key}: ${text}\``;
    })
    .join(", ");
}

function withoutOptions({ parts }) {
  return { parts: parts.map(({ name, summary, source }) => ({ name, summary, source })) };
}

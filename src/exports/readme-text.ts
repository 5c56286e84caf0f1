import type { Settings } from "../run/settings/settings-schema.ts";
import type { ExportedKey } from "./rule.ts";
import type { ExportTarget } from "./targets.ts";

interface Told {
  title: string;
  settings: Settings;
  target: ExportTarget;
  keys: readonly ExportedKey[];
  hasCorpus: boolean;
}

/** README.md of an export: how to start it, and what the trainer does otherwise than agentrl. */
export function readmeText({ title, settings, target, keys, hasCorpus }: Told): string {
  const retriever = JSON.stringify(settings.retriever).replaceAll("'", "'\\''");
  const corpus = hasCorpus ? " --corpus data/corpus.jsonl" : "";
  const differences = keys.flatMap(({ from, differs }) =>
    differs === undefined ? [] : [`- ${from}: ${differs}.`],
  );
  return `${[
    `# ${title}`,
    `1. Start the searches in this folder: \`agentrl serve --retriever '${retriever}'${corpus} --port 8000\`. AGENTRL_SEARCH_URL names another address, AGENTRL_SEARCH_TOKEN holds its token.`,
    `2. Start the training: \`${target.run}\`. Further arguments of the form key=value change its configuration.`,
    "origins.json lists every key of the recipe and where it went. experiment.json holds the protocol, budgets and rewards that episode.py and scoring.py compute.",
    ...(differences.length === 0 ? [] : [`## Differences from agentrl`, differences.join("\n")]),
  ].join("\n\n")}\n`;
}

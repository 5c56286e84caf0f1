import { writeYaml } from "../base/yaml.ts";
import type { Settings } from "../run/settings/settings-schema.ts";
import { RESOLVED_FILE } from "../run/folder/run-file.ts";
import { type CardForecast, forecastText } from "./card-forecast.ts";
import { serverOf } from "./experiment.ts";
import type { ExportedKey, TrainerKeys } from "./rule.ts";
import { type ExportTarget, SESSIONS } from "./targets.ts";

/** One key of a trainer's configuration: its value, and what it comes from. */
export interface ConfigEntry {
  key: string;
  value: unknown;
  /** Recipe keys with their origins; "chosen by the export" where the recipe has none. */
  from: string;
}

/** All keys of a trainer's configuration, in order: those that the export chooses, and over them those of the recipe. */
export function configEntries(chosen: TrainerKeys, keys: readonly ExportedKey[]): ConfigEntry[] {
  const entries = new Map<string, ConfigEntry>();
  for (const [key, value] of Object.entries(chosen))
    entries.set(key, { key, value, from: "chosen by the export" });
  const isOfRecipe = new Set<string>();
  for (const { from, origin, to } of keys) {
    for (const [key, value] of Object.entries(to)) {
      if (value === undefined) continue;
      const before = isOfRecipe.has(key) ? `${entries.get(key)?.from ?? ""}; ` : "";
      entries.set(key, { key, value, from: `${before}${from} (${origin})` });
      isOfRecipe.add(key);
    }
  }
  return [...entries.values()];
}

/** A configuration in YAML, with what each value comes from behind it. */
export function configYaml(entries: readonly ConfigEntry[], header: string, top: object): string {
  const content: Record<string, unknown> = { ...top };
  const sources = new Map(entries.map(({ key, from }) => [key, from]));
  for (const { key, value } of entries) put(content, key.split("."), value);
  return writeYaml(content, header, (keys) => {
    const prefixes = keys.map((_, i) => keys.slice(0, keys.length - i).join("."));
    const key = prefixes.find((each) => sources.has(each));
    return key === undefined ? undefined : sources.get(key);
  });
}

function put(content: Record<string, unknown>, keys: readonly string[], value: unknown): void {
  const [key = "", ...rest] = keys;
  if (rest.length === 0) content[key] = value;
  else put((content[key] ??= {}) as Record<string, unknown>, rest, value);
}

/** The same as a Python module: SETTINGS, and MODEL. */
export function configPython(
  entries: readonly ConfigEntry[],
  header: string,
  model: string,
): string {
  const lines = entries.map(
    ({ key, value, from }) => `    ${JSON.stringify(key)}: ${python(value)},  # ${from}`,
  );
  return [`"""${header}"""`, "", `MODEL = ${JSON.stringify(model)}`, "SETTINGS = {"]
    .concat(lines, "}", "")
    .join("\n");
}

function python(value: unknown): string {
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  return JSON.stringify(value);
}

interface Told {
  title: string;
  settings: Settings;
  tier: string;
  target: ExportTarget;
  keys: readonly ExportedKey[];
  hasCorpus: boolean;
  /** Folder of the policy, within the export or elsewhere, or its name on the hub. */
  model: string;
  forecast: CardForecast | null;
}

/** README.md of an export: how to start it, and what the trainer does otherwise than agentrl. */
export function readmeText(told: Told): string {
  const { title, target, keys, forecast } = told;
  const files =
    target.plays === "agentrl"
      ? `${RESOLVED_FILE} is the recipe that the episodes are played by.`
      : "experiment.json holds the protocol, budgets and rewards that episode.py and scoring.py compute.";
  const differences = keys.flatMap(({ from, differs }) =>
    differs === undefined ? [] : [`- ${from}: ${differs}.`],
  );
  return `${[
    `# ${title}`,
    ...(target.plays === "agentrl" ? playedBy(told) : searchedBy(told)),
    `Start the training: \`${target.run}\`. Further arguments of the form key=value change its configuration.`,
    ...(forecast === null ? [] : [forecastText(forecast)]),
    `origins.json lists every key of the recipe and where it went. ${files}`,
    ...(differences.length === 0 ? [] : [`## Differences from agentrl`, differences.join("\n")]),
  ].join("\n\n")}\n`;
}

/** How to start the server that plays the episodes. */
function playedBy({ settings, tier, model }: Told): string[] {
  const server = serverOf(settings.retriever);
  const isFolder = model.startsWith("/") || model === "policy";
  const tokenizer = isFolder ? model : `"$(hf download ${model})"`;
  return [
    ...(server === null ? [] : [`The searches go to ${server}/retrieve: start that server.`]),
    "Start the episodes in this folder, and leave them running (`pip install websockets` gives the trainer its side):",
    `\`\`\`sh\nagentrl serve env ${RESOLVED_FILE} --tier ${tier} --port 8002 --tokenizer ${tokenizer} --max-sessions ${SESSIONS}\n\`\`\``,
    "AGENTRL_ENV_URL names another address than ws://127.0.0.1:8002/play, AGENTRL_ENV_TOKEN holds its token.",
  ];
}

/** How to start the server of the searches, where the exported Python plays. */
function searchedBy({ settings, hasCorpus }: Told): string[] {
  const server = serverOf(settings.retriever);
  const retriever = JSON.stringify(settings.retriever).replaceAll("'", "'\\''");
  const corpus = hasCorpus ? " --corpus data/corpus.jsonl" : "";
  const searches =
    server === null
      ? `Start the searches in this folder: \`agentrl serve --retriever '${retriever}'${corpus} --port 8000\`.`
      : `Start the retrieval server that answers at ${server}/retrieve.`;
  return [
    `${searches} AGENTRL_SEARCH_URL names another address, AGENTRL_SEARCH_TOKEN holds its token.`,
  ];
}

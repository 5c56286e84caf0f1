import { existsSync } from "node:fs";
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "../base/errors.ts";
import { formatCount } from "../base/format.ts";
import { leavesOf, valueAt } from "../base/leaves.ts";
import { z } from "../base/schema.ts";
import { placeOf } from "../data/cards/card-dataset.ts";
import { cardNames } from "../data/cards/card-names.ts";
import { readCard } from "../data/cards/card.ts";
import { isHere } from "../data/cards/dataset-place.ts";
import { type DatasetSetting, datasetsWithin } from "../data/dataset.ts";
import { cachedHubModel } from "../hub/hub-model.ts";
import { hubSettings, parseHubName } from "../hub/hub-cache.ts";
import { atStage, stageOrigin } from "./stages/stage-settings.ts";
import type { Settings } from "./settings/settings-schema.ts";
import type { ResolvedSettings } from "./settings/settings.ts";
import { stageList } from "./settings/stages.ts";

/** Something outside the package that a recipe uses. */
export interface Need {
  kind: "model" | "dataset" | "file" | "server";
  /** As the settings name it. */
  name: string;
  /** Keys of the settings that name it. */
  keys: string[];
  /** Size and licence, where a card says them. */
  facts: string;
  /** Whether it is on this machine, or answers; null: it is made or downloaded on its first use. */
  here: boolean | null;
  /** Brings it here; null where nothing does, or nothing has to. */
  command: string | null;
}

/** After this long without an answer, a server counts as not here. */
const SERVER_MS = 800;

/** Whatever a recipe at a tier uses: data of every stage and evaluation, models, indexes, servers. Nothing is downloaded. */
export async function needsOf(resolved: ResolvedSettings<Settings>): Promise<Need[]> {
  const used = await usedSettings(resolved);
  const found = used.flatMap((each) => [...namedIn(each)]);
  const ofData = datasetsOf(used).flatMap(datasetNeeds);
  return merged([...ofData, ...(await Promise.all(found))]);
}

/** Settings that hold for the recipe or for one stage of it. */
interface UsedSettings {
  settings: Settings;
  /** A key for messages: a stage that changes its value is named before it. */
  keyOf: (keys: readonly string[]) => string;
  /** False for a recipe with stages: these train, each with its own settings. */
  isTrained: boolean;
}

async function usedSettings(resolved: ResolvedSettings<Settings>): Promise<UsedSettings[]> {
  const { settings: ofRecipe } = resolved;
  const stages = stageList(ofRecipe.stages ?? []);
  const own = await Promise.all(
    stages.map(async (each) => {
      const { settings } = await atStage(resolved, each);
      const keyOf = (keys: readonly string[]): string =>
        isDeepStrictEqual(valueAt(settings, keys), valueAt(ofRecipe, keys))
          ? keys.join(".")
          : `${stageOrigin(each)}: ${keys.join(".")}`;
      return { settings, keyOf, isTrained: true };
    }),
  );
  const keyOf = (keys: readonly string[]): string => keys.join(".");
  return [{ settings: ofRecipe, keyOf, isTrained: stages.length === 0 }, ...own];
}

/** Models, indexes and servers. `stages` is left out: its \`from\` names a stage. */
function* namedIn({ settings, keyOf }: UsedSettings): Generator<Promise<Need>> {
  for (const [keys, value] of leavesOf({ ...settings, stages: undefined })) {
    if (typeof value !== "string") continue;
    const [key, last] = [keyOf(keys), keys.at(-1)];
    if (last === "from" || last === "encoder") yield modelNeed(key, value);
    else if (last === "index") yield Promise.resolve(fileNeed(key, value));
    else if (last === "url" || last === "server") yield serverNeed(key, value);
  }
}

/** The datasets of a recipe's training, stages and evaluation sets. */
export async function usedDatasets(resolved: ResolvedSettings<Settings>): Promise<UsedDataset[]> {
  return datasetsOf(await usedSettings(resolved));
}

type UsedDataset = { key: string; setting: DatasetSetting };

function datasetsOf(used: readonly UsedSettings[]): UsedDataset[] {
  return used.flatMap(({ settings: { dataset, evaluation }, keyOf, isTrained }) => {
    const sets = Object.entries(evaluation.sets ?? {}).flatMap(([name, set]) =>
      set.dataset === undefined
        ? []
        : [{ key: keyOf(["evaluation", "sets", name, "dataset"]), setting: set.dataset }],
    );
    return [
      ...(isTrained ? [{ key: keyOf(["dataset"]), setting: dataset }] : []),
      { key: keyOf(["evaluation", "dataset"]), setting: evaluation.dataset },
      ...sets,
    ];
  });
}

function datasetNeeds({ key, setting }: UsedDataset): Need[] {
  return datasetsWithin(setting).flatMap((part): Need[] => {
    if (part.name === "files") return [fileNeed(`${key}.tasks`, String(part["tasks"]))];
    if (!cardNames("questions").includes(part.name)) return [];
    const card = readCard(part.name);
    const asked = cardOptions.parse(part);
    const { path, split, records } = placeOf(card, asked);
    const facts = `${formatCount(records)} questions, ${card.license}`;
    const source = asked.source === undefined ? "" : ` --source ${asked.source}`;
    const command = `agentrl data download ${card.name} --split ${split}${source}`;
    const name = `${card.name}:${split}`;
    return [{ kind: "dataset", name, keys: [key], facts, here: isHere(path), command }];
  });
}

const cardOptions = z.object({ split: z.string().optional(), source: z.string().optional() });

async function modelNeed(key: string, from: string): Promise<Need> {
  const need = { kind: "model" as const, name: from, keys: [key], facts: "", command: null };
  const hub = parseHubName(from);
  if (hub !== null) {
    const here = existsSync(from) || (await cachedHubModel(hub, hubSettings())) !== null;
    return here ? { ...need, here } : { ...need, here, command: `agentrl models get ${from}` };
  }
  // It reads the formats of models, which takes longer than all else here.
  const { findBase, folderOfName, SHIPPED_POLICIES } = await import("./bases.ts");
  if (SHIPPED_POLICIES.has(from)) return { ...need, facts: "in the package", here: true };
  const base = await findBase(from);
  if (base !== null) return { ...need, facts: "a base", here: existsSync(base.folder) || null };
  return { ...need, here: existsSync(await folderOfName(from)) };
}

function fileNeed(key: string, path: string): Need {
  return {
    kind: "file",
    name: path,
    keys: [key],
    facts: "",
    here: existsSync(path),
    command: null,
  };
}

async function serverNeed(key: string, url: string): Promise<Need> {
  const here = await fetch(url, { signal: AbortSignal.timeout(SERVER_MS) }).then(
    async (reply) => {
      await reply.body?.cancel();
      return true;
    },
    () => false,
  );
  return { kind: "server", name: url, keys: [key], facts: "", here, command: null };
}

/** One line for what several settings name. */
function merged(needs: readonly Need[]): Need[] {
  const byName = new Map<string, Need>();
  for (const need of needs) {
    const id = `${need.kind} ${need.name} ${need.command ?? ""}`;
    const known = byName.get(id);
    if (known === undefined) byName.set(id, { ...need, keys: [...need.keys] });
    else known.keys.push(...need.keys.filter((key) => !known.keys.includes(key)));
  }
  return [...byName.values()];
}

/**
 * Refuses a run whose questions are not all here, those of every stage and of the last evaluation included, before anything is opened.
 * @throws {ConfigError} DATASET_ABSENT with a command for each.
 */
export async function requireData(resolved: ResolvedSettings<Settings>): Promise<void> {
  const used = await usedDatasets(resolved);
  const absent = merged(used.flatMap(datasetNeeds)).filter(
    ({ kind, here }) => kind === "dataset" && here === false,
  );
  if (absent.length === 0) return;
  const lines = absent.map(
    ({ name, keys, facts, command }) =>
      `  ${command ?? ""}  # ${name}, ${facts}: ${keys.join(", ")}`,
  );
  throw new ConfigError(
    "DATASET_ABSENT",
    `these questions are not on this machine. Download them:\n${lines.join("\n")}`,
  );
}

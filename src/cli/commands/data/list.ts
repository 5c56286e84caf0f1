import { formatCount } from "../../../base/format.ts";
import { type Cell, renderText } from "../../../base/table.ts";
import { placeOf } from "../../../data/cards/card-dataset.ts";
import { cardNames } from "../../../data/cards/card-names.ts";
import { allCards, type Card, readCard } from "../../../data/cards/card.ts";
import { dataFolder, isHere } from "../../../data/cards/dataset-place.ts";
import { corpusLayouts, taskLayouts } from "../../../data/layouts/index.ts";
import type { World } from "../../../env/world.ts";
import { datasets } from "../../../worlds/datasets.ts";
import { worlds } from "../../../worlds/index.ts";
import { defineCommand } from "../../command.ts";
import { jsonFlag, pluginFlag } from "../../options.ts";

/** `agentrl data list [NAME]` */
export const dataList = defineCommand({
  name: "list",
  summary: "worlds, datasets, what of them is here, and layouts",
  description:
    "List the worlds, the datasets that a recipe or --dataset can name, with sizes, licences and what of them is on this machine, and the layouts that are read. With a name: all that is known of that dataset.",
  args: [["[name]", "a dataset that can be downloaded"]],
  options: { plugin: pluginFlag(), json: jsonFlag() },
  async run({ json }, context, name) {
    if (name !== undefined) {
      const card = readCard(name, "name");
      context.out(json === true ? JSON.stringify(described(card)) : cardText(card));
      return;
    }
    context.out(json === true ? JSON.stringify(await lists()) : await listText());
  },
});

/** A file of a card in the list. */
interface ListedFile {
  split: string;
  records: number;
  layout: string;
  url: string;
  checksumKnown: boolean;
  path: string;
  here: boolean;
}

function filesOf(card: Card, source: string): ListedFile[] {
  return Object.entries(card.sources[source]?.splits ?? {}).map(([split, file]) => {
    const { path } = placeOf(card, { split, source });
    const { records, layout, url, sha256 } = file;
    return {
      split,
      records,
      layout,
      url,
      checksumKnown: sha256 !== undefined,
      path,
      here: isHere(path),
    };
  });
}

function described(card: Card): object {
  const { sources, ...known } = card;
  return {
    ...known,
    sources: Object.entries(sources).map(([name, { about }]) => ({
      name,
      about,
      files: filesOf(card, name),
    })),
  };
}

const about = ({ name, summary }: { name: string; summary: string }) => ({ name, summary });
/** Datasets that need no card. */
const made = async () =>
  (await datasets.all()).filter(({ name }) => !cardNames("questions").includes(name)).map(about);

async function lists(): Promise<object> {
  const all = allCards();
  return {
    worlds: worlds.parts.map(aboutWorld),
    datasets: [...(await made()), ...all.filter(({ kind }) => kind === "questions").map(described)],
    corpora: all.filter(({ kind }) => kind === "corpus").map(described),
    questionLayouts: taskLayouts.parts.map(about),
    corpusLayouts: corpusLayouts.parts.map(about),
    folder: dataFolder(),
  };
}

async function listText(): Promise<string> {
  const summaries = (parts: readonly { name: string; summary: string }[]): string =>
    renderText({ rows: parts.map(({ name, summary }) => [name, summary]) }, 2);
  const records = { label: "records", format: formatCount };
  const columns = ["name", "split", records, "licence", "here"];
  const downloadable = renderText({ columns, rows: allCards().flatMap(rowsOf) }, 2);
  return [
    `Worlds (* agentrl data generate NAME)\n${renderText({ rows: worlds.parts.map(worldRow) }, 2)}`,
    `Datasets made or given\n${summaries(await made())}`,
    `Datasets to download (agentrl data download NAME; more: agentrl data list NAME)\n${downloadable}`,
    `Kept in ${dataFolder()}`,
    `Question files\n${summaries(taskLayouts.parts)}`,
    `Corpora\n${summaries(corpusLayouts.parts)}`,
  ].join("\n\n");
}

function worldRow({ name, summary, folder }: World): string[] {
  return [folder === undefined ? name : `${name} *`, summary];
}

function aboutWorld(world: World): object {
  const names = (parts: readonly { name: string }[]): string[] => parts.map(({ name }) => name);
  const { name, summary, datasets, environments, teachers, bases, folder } = world;
  return {
    name,
    summary,
    settings: Object.keys(folder?.options.shape ?? {}),
    datasets: names(datasets),
    environments: names(environments),
    teachers: names(teachers),
    bases,
  };
}

/** One row per split of the first source; name and licence appear once. */
function rowsOf(card: Card): Cell[][] {
  const [source = ""] = Object.keys(card.sources);
  return filesOf(card, source).map(({ split, records, here }, i) => [
    i === 0 ? card.name : "",
    split,
    records,
    i === 0 ? card.license : "",
    here ? "yes" : "",
  ]);
}

function cardText(card: Card): string {
  const { corpus, note } = card;
  const passages = {
    contexts: "each question has its own",
    none: corpus === undefined ? "none" : `none; corpus: ${corpus}`,
  };
  const facts = [
    ["for", card.for],
    ["licence", card.license],
    ["homepage", card.homepage],
    ["paper", card.paper],
    ...(card.kind === "corpus" ? [] : [["passages", passages[card.passages]]]),
    ...(card.trainable ? [] : [["training", "refused: a test set"]]),
    ...(note === undefined ? [] : [["note", note]]),
  ];
  const sources = Object.entries(card.sources).map(
    ([name, source]) => `${name}: ${source.about}\n${filesText(filesOf(card, name))}`,
  );
  return [`${card.name}: ${card.summary}`, renderText({ rows: facts }, 2), ...sources].join("\n\n");
}

function filesText(files: readonly ListedFile[]): string {
  return files
    .map(({ split, records, layout, url, checksumKnown, path, here }) => {
      const ours = url.startsWith("hub:") ? "checksum of the hub" : "no checksum published";
      const checksum = checksumKnown ? "checksum known" : ours;
      return `  ${split}  ${formatCount(records)}, ${layout}, ${checksum}\n    ${url}\n    ${here ? path : "not on this machine"}`;
    })
    .join("\n");
}

import { join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { sha256File } from "../../base/files.ts";
import { z } from "../../base/schema.ts";
import { isPath } from "../../base/setting-path.ts";
import type { Passage } from "../../trajectory/task.ts";
import { type DatasetPart, defineDataset, type OpenedDataset } from "../dataset.ts";
import { readPassages } from "../passages.ts";
import { partOf, questionPart } from "../question-part.ts";
import { streamTasks } from "../tasks.ts";
import { type Card, readCard, sourceOf, splitOf } from "./card.ts";
import { dataFolder, isHere, sourceFolder, splitFileName } from "./dataset-place.ts";

const options = z.strictObject({
  /** Default: the card's default split. */
  split: z.string().optional(),
  /** Default: the card's first source. */
  source: z.string().optional(),
  /** For a split of which one part trains and the other measures. */
  part: questionPart,
  /** Maximum number of questions, from the start. */
  limit: z.int().min(1).optional(),
  /** Corpus file; default: the questions' own contexts, if any. */
  corpus: z.string().optional().meta(isPath()),
});

export function cardDataset(name: string): DatasetPart {
  const card = readCard(name);
  return defineDataset({
    name,
    summary: card.summary,
    options,
    open: (given) => openCard(card, given),
  });
}

async function openCard(card: Card, given: z.output<typeof options>): Promise<OpenedDataset> {
  const { part, limit: most = Infinity, corpus } = given;
  const { path, split } = placeOf(card, given);
  if (!isHere(path)) throw absentDataset(card, given);
  const known = {
    source: card.name,
    idPrefix: `${card.name}-${split}`,
    unanswered: "skipped",
  } as const;
  const hash = (await sha256File(path)).slice(0, 16);
  const chosen = [part, given.limit].filter((each) => each !== undefined);
  return {
    name: `${card.name}:${split}`,
    fingerprint: [card.name, split, hash, ...chosen].join("-"),
    trainable: card.trainable,
    stream: (limit) => partOf(streamTasks(path, known), part, Math.min(limit, most)),
    passages: () => passages(card, corpus ?? (card.passages === "contexts" ? path : null)),
  };
}

/** Path of a split's file, whether or not it exists. @throws {ConfigError} PART_UNKNOWN */
export function placeOf(
  card: Card,
  { split: asked, source: from }: { split?: string | undefined; source?: string | undefined },
): { path: string; split: string; records: number } {
  const source = sourceOf(card, from, `${card.name}.source`);
  const { split, file } = splitOf(card, source, asked, `${card.name}.split`);
  const folder = sourceFolder(dataFolder(), card.name, source.name);
  return { path: join(folder, splitFileName(split, file)), split, records: file.records };
}

/** DATASET_ABSENT, with the command that downloads the split. @throws {ConfigError} PART_UNKNOWN */
export function absentDataset(
  card: Card,
  given: { split?: string | undefined; source?: string | undefined },
): ConfigError {
  const { path, records, split } = placeOf(card, given);
  const source = given.source === undefined ? "" : ` --source ${given.source}`;
  return new ConfigError(
    "DATASET_ABSENT",
    `dataset ${card.name}:${split} is not on this machine (${path}). Download it (${records} ${card.kind === "corpus" ? "passages" : "questions"}, ${card.license}): agentrl data download ${card.name} --split ${split}${source}`,
  );
}

async function* passages(card: Card, path: string | null): AsyncGenerator<Passage> {
  if (path !== null) {
    yield* readPassages(path);
    return;
  }
  const { corpus } = card;
  const index = "Search an index of a corpus (--index, or retriever.index in a recipe)";
  const download =
    corpus === undefined ? "" : `: agentrl data download ${corpus}, then agentrl index build`;
  throw new ConfigError(
    "DATASET_ABSENT",
    `dataset ${card.name}: its questions have no passages of their own. ${index}${download}; or set ${card.name}.corpus to a corpus file.`,
  );
}

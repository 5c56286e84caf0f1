import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join, relative } from "node:path";
import { DataError } from "../base/errors.ts";
import { plural } from "../base/format.ts";
import { requireFile } from "../base/files.ts";
import { type SkippedFile, type TextFolder, textFiles } from "./text-folder.ts";

export type DataSource =
  | {
      readonly kind: "records";
      readonly files: readonly string[];
      readonly skipped: readonly SkippedFile[];
    }
  | ({ readonly kind: "texts"; readonly folder: string } & Readonly<TextFolder>);

const DATA_FILE = /\.(parquet|jsonl|json|csv|tsv)(\.gz)?$/;

const DESCRIPTION = /^(dataset_infos?|dataset_dict|state|config)\.json$/;

/**
 * The files of a path: a data file; a dataset folder as the hub has it (`data/train-00000-of-00002.parquet`, …), also
 * `FOLDER:SPLIT`; or a folder of text and Markdown files.
 *
 * @throws {DataError} FILE_MISSING; DATA_FOLDER_UNCLEAR for a folder with several splits or with no file that can be read.
 */
export async function dataSource(path: string): Promise<DataSource> {
  const place = folderOf(path);
  if (place === null) {
    await requireFile(path);
    return { kind: "records", files: [path], skipped: [] };
  }
  const { folder, split } = place;
  const splits = await splitsOf(folder);
  if (splits.size > 0) {
    const files = filesOf(splits, folder, split);
    return { kind: "records", files, skipped: await besides(folder, files) };
  }
  const { files, skipped } = await textFiles(folder);
  if (files.length > 0) return { kind: "texts", folder, files, skipped };
  throw await unusable(folder, skipped);
}

/** Whether a path is a folder, or FOLDER:SPLIT. */
export function isDataFolder(path: string): boolean {
  return folderOf(path) !== null;
}

function folderOf(path: string): { folder: string; split: string | undefined } | null {
  if (isFolder(path)) return { folder: path, split: undefined };
  const [, folder, split] = /^(.+):([\w-]+)$/.exec(path) ?? [];
  return folder !== undefined && isFolder(folder) ? { folder, split } : null;
}

function isFolder(path: string): boolean {
  return existsSync(path) && statSync(path).isDirectory();
}

/** The data files by split, in order; those of the folder itself or of its folder `data`. */
async function splitsOf(folder: string): Promise<Map<string, string[]>> {
  const splits = new Map<string, string[]>();
  for (const place of [folder, join(folder, "data")].filter(isFolder)) {
    for (const name of (await readdir(place)).sort()) {
      if (!DATA_FILE.test(name) || DESCRIPTION.test(name)) continue;
      const split = name.replace(DATA_FILE, "").replace(/-\d+-of-\d+$/, "");
      splits.set(split, [...(splits.get(split) ?? []), join(place, name)]);
    }
  }
  return splits;
}

/** The other files of a folder of data: descriptions, other splits, whatever else is there. */
async function besides(folder: string, files: readonly string[]): Promise<SkippedFile[]> {
  const names = await readdir(folder, { recursive: true, withFileTypes: true });
  return names
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !files.includes(path))
    .map((path) => ({ path: relative(folder, path), why: "beside the data files that are read" }));
}

function filesOf(
  splits: ReadonlyMap<string, string[]>,
  folder: string,
  split: string | undefined,
): string[] {
  const [only = ""] = splits.keys();
  const files = splits.get(split ?? (splits.size === 1 ? only : ""));
  if (files !== undefined) return files;
  const found = split === undefined ? "has several files of data" : `has no split "${split}"`;
  throw new DataError(
    "DATA_FOLDER_UNCLEAR",
    `${folder}: ${found}; name one: ${[...splits.keys()].map((name) => `${folder}:${name}`).join(", ")}.`,
  );
}

async function unusable(folder: string, skipped: readonly SkippedFile[]): Promise<DataError> {
  const names = await readdir(folder, { recursive: true });
  if (!names.some((name) => name.endsWith(".arrow")))
    return new DataError(
      "DATA_FOLDER_UNCLEAR",
      `${folder}: has no data files (Parquet, JSON, CSV, TSV) in it or in its folder data, and no documents (.txt, .md, .html, .pdf)${skippedText(skipped)}. Name a file or another folder.`,
    );
  const out = `${basename(folder)}.parquet`;
  return new DataError(
    "DATA_FOLDER_UNCLEAR",
    `${folder}: has Arrow files of save_to_disk, which are not read. Convert them in Python: datasets.load_from_disk("${folder}").to_parquet("${out}"), for each split by itself.`,
  );
}

const NAMED = 5;

/** `; 3 files are skipped: a.docx (…), b.png (a picture), …`; empty where there are none. Hidden files are counted alone. */
export function skippedText(skipped: readonly SkippedFile[]): string {
  if (skipped.length === 0) return "";
  const hidden = skipped.filter(({ why }) => why === "hidden");
  const others = skipped.filter(({ why }) => why !== "hidden");
  const named = others.slice(0, NAMED).map(({ path, why }) => `${path} (${why})`);
  const more = others.length > NAMED ? [`${others.length - NAMED} more`] : [];
  const counted = hidden.length === 0 ? [] : [`${hidden.length} hidden`];
  const verb = skipped.length === 1 ? "is" : "are";
  return `; ${plural(skipped.length, "file")} ${verb} skipped: ${[...named, ...more, ...counted].join(", ")}`;
}

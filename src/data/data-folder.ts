import { existsSync, statSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { basename, join } from "node:path";
import { DataError } from "../base/errors.ts";
import { requireFile } from "../base/files.ts";
import { textFiles } from "./text-folder.ts";

/** The files behind a path. */
export type DataSource =
  | { readonly kind: "records"; readonly files: readonly string[] }
  | { readonly kind: "texts"; readonly folder: string; readonly files: readonly string[] };

const DATA_FILE = /\.(parquet|jsonl|json|csv|tsv)(\.gz)?$/;

/** The dataset's own description, not its rows. */
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
    return { kind: "records", files: [path] };
  }
  const { folder, split } = place;
  const splits = await splitsOf(folder);
  if (splits.size > 0) return { kind: "records", files: filesOf(splits, folder, split) };
  const files = await textFiles(folder);
  if (files.length > 0) return { kind: "texts", folder, files };
  throw await unusable(folder);
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

async function unusable(folder: string): Promise<DataError> {
  const names = await readdir(folder, { recursive: true });
  if (!names.some((name) => name.endsWith(".arrow"))) {
    return new DataError(
      "DATA_FOLDER_UNCLEAR",
      `${folder}: has no data files (Parquet, JSON, CSV, TSV) in it or in its folder data, and no text files (.txt, .md). Name a file or another folder.`,
    );
  }
  const out = `${basename(folder)}.parquet`;
  return new DataError(
    "DATA_FOLDER_UNCLEAR",
    `${folder}: has Arrow files of save_to_disk, which are not read. Convert them in Python: datasets.load_from_disk("${folder}").to_parquet("${out}"), for each split by itself.`,
  );
}

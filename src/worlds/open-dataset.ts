import { existsSync } from "node:fs";
import { ConfigError } from "../base/errors.ts";
import { STDIN } from "../base/files.ts";
import { suggest } from "../base/nearest.ts";
import { withParts } from "../base/registry.ts";
import { parseOptions } from "../base/schema.ts";
import { isBeirFolder } from "../data/beir-folder.ts";
import { isDataFolder } from "../data/data-folder.ts";
import type { Dataset, DatasetSetting, OwnTasks } from "../data/dataset.ts";
import { fieldFlags, type Fields } from "../data/fields.ts";
import { datasets } from "./datasets.ts";

/**
 * The value of a dataset flag: a registered dataset (which wins over a file), NAME:SPLIT, a question file, or a BEIR folder (also :SPLIT).
 * @param where the flag, for messages. @param fields the user's names for the fields of a question file.
 * @throws {ConfigError} PART_UNKNOWN with the nearest name; USAGE for fields of a dataset whose fields are known.
 */
export function datasetNamed(given: string, where: string, fields: Fields = {}): DatasetSetting {
  const found = namedOrFile(given, where);
  if (Object.keys(fields).length === 0) return found;
  if (found.name === "files") return { ...found, fields };
  const message = `${where} is "${given}", whose fields are known: ${fieldFlags(fields).join(", ")} would have no effect. Leave it out, or name a file.`;
  throw new ConfigError("USAGE", message);
}

function namedOrFile(given: string, where: string): DatasetSetting {
  const [, name = given, split] = /^(.+):([\w-]+)$/.exec(given) ?? [];
  const withSplit = split === undefined ? {} : { split };
  if (datasets.names.includes(name)) return { name, ...withSplit };
  if (isBeirFolder(name)) return { name: "beir", folder: name, ...withSplit };
  // No corpus: a corpus in the recipe belongs to the recipe's question file, not to this one.
  if (given === STDIN || existsSync(given) || isDataFolder(given))
    return { name: "files", tasks: given, corpus: undefined };
  const message = `${where} is "${given}"; there is no such file and no such dataset. ${suggest(name, datasets.names)}`;
  throw new ConfigError("PART_UNKNOWN", message);
}

/**
 * Opens the dataset of a recipe or flag: options (`{ name: hotpotqa, split: dev }`), or a text for `datasetNamed`.
 * @param where the recipe key or flag, for messages. @param own tasks of the recipe's environment, if it makes any.
 * @throws {ConfigError} PART_UNKNOWN, RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY; DATASET_ABSENT. @throws {DataError} FILE_MISSING
 */
export async function openDataset(
  given: string | DatasetSetting,
  where: string,
  own?: OwnTasks,
): Promise<Dataset> {
  const { name, ...options } = typeof given === "string" ? datasetNamed(given, where) : given;
  const part = await datasets.load(name, `${where}.name`);
  return part.open(await withParts(() => parseOptions(part.options, options, where)), {
    own,
    open: (inner) => openDataset(inner, "of", own),
  });
}

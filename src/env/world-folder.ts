import { join } from "node:path";
import { DataError } from "../base/errors.ts";
import { readJson, sha256File } from "../base/files.ts";
import { checkOptions, z } from "../base/schema.ts";

const filesSchema = z.record(z.string(), z.object({ records: z.int(), sha256: z.string() }));

/** The files of a generated world's folder, as its manifest lists them. */
export interface WorldFolder {
  names: string[];
  /** Files that differ from the manifest, or are missing; the function that reads them reports the missing ones. */
  changedFiles: string[];
}

/** Whether a folder's manifest.json says that it is a world of this format. */
export async function isWorldFolder(folder: string, format: string): Promise<boolean> {
  const manifest = await readJson(join(folder, "manifest.json"));
  const ofFormat = z.looseObject({ format: z.literal(format) });
  return checkOptions(ofFormat, manifest).problem === null;
}

/**
 * Compares the files of a generated world's folder with its manifest.
 * @param world its format in the manifest, and its name for `agentrl data generate`.
 * @throws {DataError} FILE_MISSING, FILE_NOT_JSON, DATA_BAD_RECORD when the manifest is missing or invalid.
 */
export async function compareWorldFolder(
  folder: string,
  world: { format: string; name: string },
): Promise<WorldFolder> {
  const path = join(folder, "manifest.json");
  const schema = z.object({ format: z.literal(world.format), files: filesSchema });
  const manifest = checkOptions(schema, await readJson(path));
  if (manifest.problem !== null) {
    const { path: keys, message } = manifest.problem;
    throw new DataError(
      "DATA_BAD_RECORD",
      `${path}: "${keys.join(".")}" ${message} A folder from \`agentrl data generate ${world.name}\` is required.`,
    );
  }
  const changedFiles: string[] = [];
  for (const [name, { sha256 }] of Object.entries(manifest.value.files)) {
    if ((await hashOf(join(folder, name))) !== sha256) changedFiles.push(name);
  }
  return { names: Object.keys(manifest.value.files), changedFiles };
}

/** Null for a missing file. */
async function hashOf(path: string): Promise<string | null> {
  try {
    return await sha256File(path);
  } catch {
    return null;
  }
}

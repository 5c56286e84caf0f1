import { dirname, resolve } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { readText } from "../../base/files.ts";
import { checkOptions, z } from "../../base/schema.ts";
import { parseYaml } from "../../base/yaml.ts";

/** One arm that was trained elsewhere, with its evaluations. */
export interface GivenEntry {
  /** `FILE:LINE`, for messages. */
  where: string;
  /** As the file has it: `search`, or `CLAIM/search`. */
  arm: string;
  seeds: number[];
  /** Folders of `agentrl eval --out`. */
  runs: string[];
}

const someOf = <S extends z.ZodType>(schema: S) =>
  z.union([schema.transform((value) => [value]), z.array(schema).min(1)]);

const seed = z.int().min(0);
const folder = z.string().min(1);

const entrySchema = z.strictObject({
  arm: z.string().min(1),
  seed: someOf(seed),
  runs: someOf(folder),
});

/**
 * Reads a file of results that were trained elsewhere: a list of `{ arm: NAME, seed: N, runs: FOLDER }`. An arm that trains nothing may have
 * several seeds; `runs` may be a list. Folders are relative to the file.
 * @throws {ConfigError} RECIPE_NOT_YAML, RECIPE_BAD_VALUE, RECIPE_UNKNOWN_KEY with the line. @throws {DataError} FILE_MISSING
 */
export async function readGivenFile(file: string): Promise<GivenEntry[]> {
  const yaml = parseYaml(await readText(file), file);
  const checked = checkOptions(z.array(entrySchema).min(1), yaml.value);
  if (checked.problem !== null) {
    const { path, message, code } = checked.problem;
    const place = path.length === 0 ? "the file" : path.join(".");
    throw new ConfigError(
      code,
      `${file}:${yaml.lineOf(path)}: ${place} ${message} Write a list of results: "- { arm: NAME, seed: 1, runs: FOLDER }".`,
    );
  }
  return checked.value.map(({ arm, seed: seeds, runs }, i) => ({
    where: `${file}:${yaml.lineOf([String(i)])}`,
    arm,
    seeds,
    runs: runs.map((run) => resolve(dirname(file), run)),
  }));
}

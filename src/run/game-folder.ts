import { existsSync } from "node:fs";
import { join } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { makeFolder, readText } from "../base/files.ts";
import { openJsonl, readJsonl } from "../base/jsonl.ts";
import type { Trajectory } from "../trajectory/trajectory.ts";
import { GAMES_FILE, RESOLVED_FILE } from "./folder/run-file.ts";
import { recordOf, toYaml } from "./settings/resolved-yaml.ts";
import type { Settings } from "./settings/settings-schema.ts";
import type { ResolvedSettings } from "./settings/settings.ts";

/** Played games of the same settings: `games.jsonl`, trajectories, beside `recipe.resolved.yaml`. */
export interface GameFolder {
  path: string;
  file: string;
  /** Games that it has. */
  games: number;
  add(trajectory: Trajectory): Promise<void>;
}

/**
 * The folder for games of some settings; nothing is written before the first game.
 * @param named by the user. Without it the first of `preset`, `preset-2`, … that is new or has games of these settings.
 * @throws {ConfigError} OUTPUT_EXISTS when the named folder has something else.
 */
export async function findGameFolder(
  resolved: ResolvedSettings<Settings>,
  { named, preset }: { named: string | undefined; preset: string },
): Promise<GameFolder> {
  let path = named ?? preset;
  for (let number = 2; !(await isFit(path, resolved)); number++) {
    if (named !== undefined) {
      const message = `${path}: already exists, and has no games of these settings. Choose another --out.`;
      throw new ConfigError("OUTPUT_EXISTS", message);
    }
    path = `${preset}-${number}`;
  }
  const file = join(path, GAMES_FILE);
  let games = 0;
  if (existsSync(file)) for await (const _ of readJsonl(file)) games += 1;
  return {
    path,
    file,
    games,
    async add(trajectory) {
      await makeFolder(path);
      await recordOf(resolved).writeRecipe(path);
      const log = await openJsonl(file);
      await log.append(trajectory).finally(() => log.close());
    },
  };
}

/** Whether a folder is new, or has games of these settings. */
async function isFit(path: string, resolved: ResolvedSettings<Settings>): Promise<boolean> {
  if (!existsSync(path)) return true;
  const recipe = join(path, RESOLVED_FILE);
  if (!existsSync(join(path, GAMES_FILE)) || !existsSync(recipe)) return false;
  return (await readText(recipe)).trim() === toYaml(resolved, path).trim();
}

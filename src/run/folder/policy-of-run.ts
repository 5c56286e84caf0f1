import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { ConfigError } from "../../base/errors.ts";
import { newestCheckpoint } from "./checkpoints.ts";
import { RESOLVED_FILE } from "./run-origin.ts";

/** A policy that a training made. */
export interface PolicyOfRun {
  /** Folder of the policy. */
  policy: string;
  /** The run's settings, a recipe of their own. */
  recipe: string;
}

/**
 * The policy that a path inside a run means: a checkpoint is itself, a run folder its kept policy or else its newest checkpoint.
 * @returns null for a path that belongs to no run.
 * @throws {ConfigError} POLICY_IS_RUN for a run without a checkpoint.
 */
export async function policyOfRun(path: string): Promise<PolicyOfRun | null> {
  const recipe = join(path, RESOLVED_FILE);
  const isModel = existsSync(join(path, "config.json"));
  if (existsSync(recipe) && !isModel) {
    // Supervised fine-tuning keeps its best policy in a folder of its own.
    const kept = join(path, "policy");
    if (existsSync(kept)) return { policy: kept, recipe };
    const newest = await newestCheckpoint(path);
    if (newest !== null) return { policy: newest.path, recipe };
    throw new ConfigError(
      "POLICY_IS_RUN",
      `${path}: is a run folder without a checkpoint yet. Continue its training with --resume, or name another policy.`,
    );
  }
  if (!existsSync(path)) return null;
  const runs = [dirname(path), dirname(dirname(path))];
  const run = runs.find((each) => existsSync(join(each, RESOLVED_FILE)));
  return run === undefined ? null : { policy: path, recipe: join(run, RESOLVED_FILE) };
}

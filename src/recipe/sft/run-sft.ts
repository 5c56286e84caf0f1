import { ConfigError } from "../../base/errors.ts";
import { writeJson } from "../../base/files.ts";
import { openEngine, policyFolder, requireTrainable } from "../assemble.ts";
import { writeFreshPolicy } from "../fresh-policy.ts";
import { checkpointFolder } from "../folder/checkpoints.ts";
import { withClaimedRun } from "../folder/claim-run.ts";
import { resumePoint } from "../folder/resume-point.ts";
import type { SftSamplesSettings } from "../../train/sft.ts";
import type { Settings } from "../settings/settings-schema.ts";
import type { ResolvedSettings } from "../settings/settings.ts";
import { findSampleFiles } from "./sft-data.ts";
import { learnFromSamples } from "./sft-from-samples.ts";
import { learnFromStream } from "./sft-from-stream.ts";
import { resultFile, type RunSftOptions, type SftResult, type SftSession } from "./sft-session.ts";
import { hasStages } from "./sft-settings.ts";

/**
 * Runs a recipe's `sft` on the samples of a file or on a stream, and writes the run folder and, at the end, the policy alone in
 * `policy/`. Interrupted, it keeps a checkpoint of the last whole step; resumed from it, it goes on as if it had not stopped.
 *
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe has no `sft`, or names no samples; RUN_NOTHING_LEFT when there is no step to
 *   resume; RUN_DATA_CHANGED when it is resumed on other samples.
 * @throws {DataError} as `findSampleFiles` and `loadSamples`.
 */
export async function runSft(
  resolved: ResolvedSettings<Settings>,
  options: RunSftOptions,
): Promise<SftResult> {
  const { settings, recipe } = resolved;
  const { sft } = settings;
  if (sft === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${recipe.path}: has no "sft"; name samples to learn from (--data), add supervised stages, or use agentrl train.`,
    );
  }
  requireTrainable(settings);
  const { out } = options;
  const learn = hasStages(sft)
    ? (session: SftSession) => learnFromStream(session, sft)
    : await learningFrom(sft, recipe.path);
  const { signal } = options;
  return withClaimedRun({ out, command: "sft", resolved, use: options, signal }, () =>
    fineTune(resolved, options, learn),
  );
}

async function fineTune(
  resolved: ResolvedSettings<Settings>,
  options: RunSftOptions,
  learn: (session: SftSession) => Promise<SftResult>,
): Promise<SftResult> {
  const { settings } = resolved;
  const { out, signal } = options;
  const { from, events } = await resumePoint(out, options.resume);
  const download = { ...options.download, signal };
  const { from: named, fresh } = settings.policy;
  const start = fresh === undefined ? await policyFolder(named, download) : null;
  const model = start ?? checkpointFolder(out, 0);
  if (fresh !== undefined) await writeFreshPolicy(model, fresh, settings.seed);
  const engine = await openEngine(settings, model, download);
  try {
    const result = await learn({ resolved, options, engine, model, from, events });
    await writeJson(resultFile(out), result);
    return result;
  } finally {
    await engine.close();
  }
}

/** Training on samples, whose files are looked for before a model is loaded. */
async function learningFrom(
  sft: SftSamplesSettings,
  where: string,
): Promise<(session: SftSession) => Promise<SftResult>> {
  const files = await findSampleFiles(sft, where);
  return (session) => learnFromSamples(session, sft, files);
}

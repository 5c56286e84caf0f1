import { join } from "node:path";
import { ConfigError } from "../base/errors.ts";
import { teacherTrajectories, type TeacherOptions } from "../synth/teacher-trajectories.ts";
import { trainSft, type SftStep } from "../train/sft.ts";
import {
  environmentOver,
  openEngine,
  type PolicyDownload,
  policyFolder,
  requireTrainable,
} from "./assemble.ts";
import { writeFreshPolicy } from "./fresh-policy.ts";
import { checkpointFolder, runFolderOf } from "./run-folder.ts";
import type { Settings } from "./settings-schema.ts";
import type { ResolvedSettings } from "./settings.ts";

export interface RunSftOptions {
  /** Run folder. */
  out: string;
  /** agentrl's version, for the manifest. */
  version: string;
  signal: AbortSignal;
  /** When the policy is one of the hub. */
  download?: PolicyDownload;
  onStep: (step: SftStep & { totalSteps: number; seconds: number }) => void;
}

/**
 * Runs a recipe's supervised stages. An interrupted run keeps a checkpoint of its last step; a whole one also leaves the policy
 * alone, in half precision, in `policy/`.
 * @returns the folders of the final checkpoint and of the policy.
 * @throws {ConfigError} RECIPE_BAD_VALUE when the recipe has no `sft`.
 */
export async function runSft(
  resolved: ResolvedSettings<Settings>,
  { out, version, signal, download, onStep }: RunSftOptions,
): Promise<{ checkpoint: string; policy: string; steps: number }> {
  const { settings } = resolved;
  const { sft } = settings;
  if (sft === undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${resolved.recipe.path}: has no "sft"; add supervised stages, or use agentrl train.`,
    );
  }
  requireTrainable(settings);
  if (settings.policy.chat !== undefined) {
    throw new ConfigError(
      "RECIPE_BAD_VALUE",
      `${resolved.recipe.path}: policy.chat is set, but teachers write their trajectories as plain text. Take it out for sft.`,
    );
  }
  const { from, fresh } = settings.policy;
  const start = fresh === undefined ? await policyFolder(from, { ...download, signal }) : null;
  const model = start ?? checkpointFolder(out, 0);
  if (fresh !== undefined) await writeFreshPolicy(model, fresh, settings.seed);
  const engine = await openEngine(settings, model, { ...download, signal });
  const totalSteps = sft.stages.reduce((sum, { steps }) => sum + steps, 0);
  const teacher: TeacherOptions = {
    environmentOver: (retriever) => environmentOver(retriever, settings),
    ...{ worlds: sft.worlds, tokenizer: engine.tokenizer, seed: settings.seed, signal },
  };
  let step = 0;
  const run = await runFolderOf(engine, out, resolved, { version });
  try {
    for (const { steps, behaviour } of sft.stages) {
      // A stage's trajectories have numbers of their own; those dropped leave gaps, never repeats.
      const trajectories = teacherTrajectories(
        teacher,
        behaviour,
        step * sft.trajectoriesPerStep * 2,
      );
      let last = performance.now();
      await trainSft(engine, sft, {
        ...{ trajectories, steps, firstStep: step, totalSteps, signal },
        onStep: async (each) => {
          const seconds = (performance.now() - last) / 1000;
          last = performance.now();
          step = each.step;
          const { loss, gradNorm, tokens } = each;
          await run.metrics(
            step,
            { "losses/sft": loss, "optimizer/grad_norm": gradNorm },
            { seconds, tokensPerSecond: tokens / seconds },
          );
          onStep({ ...each, totalSteps, seconds });
        },
      });
    }
    await engine.save(join(out, "policy"), { dtype: "F16", merged: true });
  } finally {
    if (step > 0) await engine.save(checkpointFolder(out, step), { optimizer: true });
    await engine.close();
    await run.close();
  }
  return { checkpoint: checkpointFolder(out, step), policy: join(out, "policy"), steps: step };
}

import { join } from "node:path";
import { openEngine, openNamedDataset, policyFolder, requireTrainable } from "./assemble.ts";
import { withClaimedRun } from "./folder/claim-run.ts";
import { type HeldOutEvaluation, recordedEvaluation } from "./held-out-evaluation.ts";
import { withRunFolder } from "./folder/run-folder.ts";
import { runPreference } from "./sft/run-preference.ts";
import { runSft } from "./sft/run-sft.ts";
import { type PlannedStage, runStages, type StageOutcome } from "./run-stages.ts";
import { runSynth } from "./synth/run-synth.ts";
import { runAlgorithm, runTrain, type TrainResult } from "./train/run-train.ts";
import type { Stage } from "./stages.ts";
import type { Settings } from "./settings/settings-schema.ts";
import type { ResolvedSettings } from "./settings/settings.ts";
import type { RunTrainOptions } from "./train/train-session.ts";

export interface RunRecipeOptions extends RunTrainOptions {
  /** Called before each stage of a recipe that has them, and once for each that an earlier run has done (`kept`). */
  onStage?: (stage: Stage, total: number, kept: boolean) => void;
  /** Of a stage that draws or learns from draws: questions or steps done. `total` is null where it is not known. */
  onStageProgress?: (progress: { done: number; total: number | null; note: string }) => void;
}

/** What a recipe came to. */
export interface RecipeResult extends TrainResult {
  /** Of a recipe with stages: what each did. */
  stages?: StageOutcome[];
}

/**
 * Runs a recipe from its policy to the one that it ends with, evaluated before and after on the same held-out questions: its stages
 * in order, or, where it has none, its `algorithm`.
 *
 * @throws as `runTrain`, `runStages` and what the stages run.
 */
export async function runRecipe(
  resolved: ResolvedSettings<Settings>,
  options: RunRecipeOptions,
): Promise<RecipeResult> {
  const { settings } = resolved;
  if (settings.stages === undefined) return runTrain(resolved, options);
  requireTrainable(settings);
  const use = { ...options, settingsOf: "stages" } as const;
  const { out, signal } = options;
  return withClaimedRun({ out, command: "train", resolved, use, signal }, () =>
    runInStages(resolved, options),
  );
}

async function runInStages(
  resolved: ResolvedSettings<Settings>,
  options: RunRecipeOptions,
): Promise<RecipeResult> {
  const { settings } = resolved;
  const begun = performance.now();
  const { out, resume = false, signal } = options;
  const start = await policyFolder(settings.policy.from, { ...options.download, signal });
  const first = await evaluate(resolved, start, { name: "before", known: resume, options });
  const { stages, policy } = await runStages(resolved, {
    ...{ out, resume },
    ...(options.onStage === undefined ? {} : { onStage: options.onStage }),
    run: (planned, resumed) => runStage(planned, { ...options, resume: resumed }),
  });
  const how = { name: "after", known: false, options } as const;
  // Where nothing was trained, nothing has changed.
  const { evaluation: after } = policy === null ? first : await evaluate(resolved, policy, how);
  const counts = stages.map(({ facts }) => facts["steps"]);
  return {
    run: out,
    device: first.device,
    steps: counts.reduce<number>((sum, each) => sum + (typeof each === "number" ? each : 0), 0),
    checkpoint: policy ?? start,
    wallSeconds: Math.round((performance.now() - begun) / 100) / 10,
    eval: { before: first.evaluation, after },
    stages,
  };
}

/** Evaluates a policy's folder; a resumed run reads the result that it has. */
async function evaluate(
  resolved: ResolvedSettings<Settings>,
  model: string,
  how: { name: "before" | "after"; known: boolean; options: RunRecipeOptions },
): Promise<{ evaluation: HeldOutEvaluation; device: string }> {
  const { name, known, options } = how;
  const { out, version, signal } = options;
  const { settings } = resolved;
  const held = await openNamedDataset(settings.evaluation.dataset);
  const engine = await openEngine(settings, model, { ...options.download, signal, trains: false });
  // The stages tell reporters, each of its own run.
  const quiet = { ...resolved, settings: { ...settings, reporters: [] } };
  const { onEvent } = options;
  try {
    const opening = { engine, out, resolved: quiet, facts: { version }, onEvent, signal };
    return await withRunFolder(opening, async (run) => {
      const evaluation = await recordedEvaluation(
        { settings, engine, held, model },
        run,
        { name, known, signal },
        options,
      );
      return { evaluation, device: engine.device };
    });
  } finally {
    await engine.close();
  }
}

async function runStage(
  { stage, folder, resolved }: PlannedStage,
  options: RunRecipeOptions,
): Promise<Pick<StageOutcome, "policy" | "facts">> {
  const { version, signal, resume = false, download, onEvent } = options;
  const common = {
    ...{ out: folder, version, signal, resume },
    ...(download === undefined ? {} : { download }),
    ...(onEvent === undefined ? {} : { onEvent }),
  };
  const tell = (done: number, total: number | null, note: string): void => {
    options.onStageProgress?.({ done, total, note });
  };
  switch (stage.do) {
    case "synth": {
      const { result } = await runSynth(resolved, {
        ...common,
        onDraw: ({ questions, rollouts }) => {
          tell(questions, null, `${rollouts} rollouts`);
        },
      });
      return { policy: null, facts: { ...result } };
    }
    case "sft": {
      const {
        policy,
        checkpoint: _,
        ...facts
      } = await runSft(resolved, {
        ...common,
        onStep: ({ step, totalSteps, loss }) => {
          tell(step, totalSteps, `loss ${loss.toFixed(3)}`);
        },
      });
      return { policy, facts };
    }
    case "preference": {
      const {
        policy,
        checkpoint: _,
        ...facts
      } = await runPreference(resolved, {
        ...common,
        onStep: ({ step, totalSteps, metrics }) => {
          tell(step, totalSteps, `loss ${(metrics["losses/preference"] ?? NaN).toFixed(3)}`);
        },
      });
      return { policy, facts };
    }
    case "train": {
      const policy = join(folder, "policy");
      // Not the checkpoint: its optimiser's state is no business of the next stage's.
      const { steps } = await runAlgorithm(
        resolved,
        { ...options, ...common },
        async ({ engine }, name) => {
          if (name === "after") await engine.save(policy, { merged: true });
        },
      );
      return { policy, facts: { steps } };
    }
  }
}

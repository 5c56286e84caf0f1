import { deferring } from "../base/deferring.ts";
import { openEngine, openNamedDataset, policyFolder, requireTrainable } from "./assemble.ts";
import { withClaimedRun } from "./folder/claim-run.ts";
import { aroundTraining, type Measured } from "./evaluation-sets.ts";
import {
  type EvaluationTime,
  type HeldOutEvaluation,
  recordedEvaluations,
} from "./held-out-evaluation.ts";
import { openRunFolder } from "./folder/run-folder.ts";
import { runPlanned, runStages, type StageOutcome } from "./driver.ts";
import { readRunFile, SEVERAL, writeRunFile } from "./folder/run-file.ts";
import type { Session } from "./session.ts";
import { stageList } from "./settings/stages.ts";
import { requireData } from "./needs.ts";
import { requirePaper } from "./checks/paper-tier.ts";
import { requireTrainable as requireRunnable } from "./checks/require-trainable.ts";
import { recordOf } from "./settings/resolved-yaml.ts";
import { withStageSession } from "./stages/open-session.ts";
import { trainStage } from "./stages/shipped.ts";
import { evaluatedAround, trainByRollouts, type TrainResult } from "./train/on-policy-method.ts";
import type { Settings } from "./settings/settings-schema.ts";
import type { ResolvedSettings } from "./settings/settings.ts";

/** What a recipe came to. */
export interface RecipeResult extends TrainResult {
  /** Of a recipe with stages: what each did. */
  stages?: StageOutcome[];
}

/** A run of several stages, as its folder is claimed. */
const STAGES = { name: SEVERAL, resumesBy: "settings" } as const;

/**
 * Runs a recipe from its policy to the one that it ends with, evaluated before and after on the same held-out questions: its stages
 * in order. A recipe with `algorithm` alone is short for evaluate, train, evaluate.
 *
 * @throws as `withClaimedRun`, `runStages` and what the stages run.
 */
export async function runRecipe(
  resolved: ResolvedSettings<Settings>,
  session: Session,
): Promise<RecipeResult> {
  const { settings } = resolved;
  requireTrainable(settings);
  const { out, signal, allowIgnored = false, resume = false } = session;
  // A resumed run has the settings that were checked when it began, with every default written out.
  if (!allowIgnored && !resume) await requireRunnable(resolved);
  if (!resume) await requirePaper(resolved);
  await requireData(resolved);
  const isOne = settings.stages === undefined;
  const claim = { out, stage: isOne ? trainStage : STAGES, settings, use: session, signal };
  return withClaimedRun(claim, async () => {
    const result = isOne
      ? await withStageSession(resolved, session, (stage) =>
          trainByRollouts(stage, evaluatedAround()),
        )
      : await runInStages(resolved, session);
    const stages = (await readRunFile(out)) ?? [];
    await writeRunFile(
      out,
      stages.map((stage) => ({ ...stage, done: true })),
    );
    return result;
  });
}

async function runInStages(
  resolved: ResolvedSettings<Settings>,
  options: Session,
): Promise<RecipeResult> {
  const { settings } = resolved;
  const begun = performance.now();
  const { out, resume = false, signal } = options;
  const before = (model: string) =>
    evaluate(resolved, model, { when: "before", known: resume, options });
  const making = stageList(settings.stages ?? []).findLast(({ isStart }) => isStart);
  let start = "";
  let first: Awaited<ReturnType<typeof before>> | null = null;
  if (making === undefined) {
    start = await policyFolder(settings.policy.from, { ...options.download, signal });
    first = await before(start);
  }
  const { stages, policy } = await runStages(resolved, options, {
    run: async (planned, session) => {
      const outcome = await runPlanned(planned, session);
      if (planned.stage.number === making?.number && outcome.policy !== null)
        first = await before((start = outcome.policy));
      return outcome;
    },
  });
  // The stage that makes the start was taken over from an earlier run.
  start ||= stages.find(({ number }) => number === making?.number)?.policy ?? "";
  first ??= await before(start);
  await evaluateBetween(resolved, stages, options);
  const how = { when: "after", known: false, options } as const;
  // Where nothing was trained, nothing has changed.
  const { evaluation: after } = policy === null ? first : await evaluate(resolved, policy, how);
  const counts = stages.map(({ facts }) => facts["steps"]);
  return {
    run: out,
    device: first.device,
    steps: counts.reduce<number>((sum, each) => sum + (typeof each === "number" ? each : 0), 0),
    checkpoint: policy ?? start,
    wallSeconds: Math.round((performance.now() - begun) / 100) / 10,
    eval: aroundTraining(first.evaluation, after),
    stages,
  };
}

/** Evaluates the policies of stages that ask for it. They are kept, so nothing is lost by doing it once all stages are done. */
async function evaluateBetween(
  resolved: ResolvedSettings<Settings>,
  outcomes: readonly StageOutcome[],
  options: Session,
): Promise<void> {
  const asked = stageList(resolved.settings.stages ?? []).filter((stage) => stage.evaluate);
  let steps = 0;
  for (const { number, policy, facts } of outcomes) {
    steps += typeof facts["steps"] === "number" ? facts["steps"] : 0;
    if (policy === null || !asked.some((stage) => stage.number === number)) continue;
    await evaluate(resolved, policy, { when: `step-${steps}`, known: false, options });
  }
}

/** Evaluates a policy's folder; a resumed run reads the result that it has. */
async function evaluate(
  resolved: ResolvedSettings<Settings>,
  model: string,
  { when, known, options }: { when: EvaluationTime; known: boolean; options: Session },
): Promise<{ evaluation: Measured<HeldOutEvaluation>; device: string }> {
  const { out, version, signal } = options;
  const { settings } = resolved;
  const held = await openNamedDataset(settings.evaluation.dataset, settings.environment);
  // The stages tell reporters, each of its own run.
  const quiet = { settings: { ...settings, reporters: [] }, record: recordOf(resolved) };
  const { onEvent } = options;
  return deferring(async (defer) => {
    const download = { ...options.download, signal };
    const engine = await openEngine(settings, model, { ...download, trains: false });
    defer(() => engine.close());
    const facts = { version, stages: null };
    const run = await openRunFolder({ engine, out, ...quiet, facts, onEvent, signal });
    defer((error) => run.close(error));
    const subject = { settings, engine, held, model };
    const evaluation = await recordedEvaluations(subject, run, { when, known, signal }, options);
    return { evaluation, device: engine.machine.device };
  });
}

import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { deferring } from "../../base/deferring.ts";
import { ConfigError } from "../../base/errors.ts";
import { openAlarms, type TriggeredAlarm } from "../../watch/alarms/open-alarms.ts";
import type { MetricsLine } from "../../watch/metrics-line.ts";
import { exposureWarnings } from "../checks/remote-engine.ts";
import { openEngine, openNamedDataset, policyFolder, requireTrainable } from "../assemble.ts";
import {
  type Checkpoint,
  checkpointFolder,
  type Checkpoints,
  methodStateOf,
  openCheckpoints,
  saveStart,
} from "../folder/checkpoints.ts";
import { METRICS_FILE, readMetrics } from "../folder/metrics-log.ts";
import { resumePoint } from "../folder/resume-point.ts";
import { type Rollback, rollbacksOf } from "../folder/rollbacks.ts";
import { StopRequested } from "../folder/run-control.ts";
import { openRunFolder } from "../folder/run-folder.ts";
import { recordFiles } from "../../models/recorded-files.ts";
import { writeWholeFolder } from "../folder/whole-folder.ts";
import { pluginData, requireSameData, samePolicyHash } from "../folder/same-data.ts";
import { writeFreshPolicy } from "../fresh-policy.ts";
import { recordedEvaluation } from "../held-out-evaluation.ts";
import type { Session } from "../session.ts";
import type { StageSession } from "../stages/stage.ts";
import type { Settings } from "../settings/settings-schema.ts";
import { rollBack, handleAlarms, unlessDiverged } from "./rollback.ts";
import type {
  OpenTraining,
  Progress,
  TrainingEnd,
  TrainingMethod,
  TrainingSession,
} from "./training-method.ts";

/**
 * Trains a policy by one method, as a stage of a run: resume, data checks, reference, checkpoints, metrics, alarms, rollbacks, requests
 * of a person who watches, and the final policy. The driver holds the folder (`runAlone`).
 *
 * All decisions depend on the metrics and the checkpoints on disk, so a run that was interrupted and resumed gives the same bytes as
 * one that was not.
 *
 * @throws {ConfigError} RUN_DATA_CHANGED for a folder that cannot be used so; RUN_NOTHING_LEFT when the run to resume is finished.
 * @throws {ExternalError} RUN_ALARM when an alarm ends the run.
 * @throws {StopRequested} when `options.control` says so.
 * @throws what the method throws.
 */
export function runTraining<R>(method: TrainingMethod<R>, options: StageSession): Promise<R> {
  const { settings, record, out, version, signal, onEvent } = options;
  requireTrainable(settings);
  const begun = performance.now();
  return deferring(async (defer) => {
    const { from, events } = await resumePoint(out, options.resume);
    const download = { ...options.download, signal };
    const model = await startingPolicy(method, settings, options);
    const policy = await samePolicyHash(model, from === null ? null : out, download);
    const training = await method.open({
      session: options,
      model,
      from,
      openEngine: async () => {
        const engine = await openEngine(settings, model, download);
        defer(() => engine.close());
        return engine;
      },
    });
    const { engine, totalSteps, data } = training;
    const plugins = pluginData(settings);
    if (from !== null) {
      await requireSameData(out, method.learnsFrom, data);
      await requireSameData(out, "a plugin", plugins);
    }
    const progress = await progressUpTo(training, out, from?.step ?? -1);
    const isTrained = from !== null && (from.step >= totalSteps || progress.enough);
    const products = training.products.map((file) => join(out, file));
    if (isTrained && products.every((file) => existsSync(file)))
      throw nothingLeft(method, out, from, totalSteps);
    const hashes = Object.entries({ ...data, ...plugins }).flatMap(([name, each]) =>
      each === null ? [] : [[name, each.sha256] as const],
    );
    const run = await openRunFolder({
      engine,
      out,
      settings,
      record,
      onEvent,
      signal,
      events: [...events, ...(training.warnings ?? []), ...exposureWarnings(settings)],
      facts: {
        version,
        stages: method.stages,
        steps: totalSteps,
        afterStep: from?.step ?? -1,
        hashes: { policy, ...Object.fromEntries(hashes) },
        rewardCheck: training.rewardCheck,
      },
    });
    defer((error) => run.close(error));
    let held = training.held === undefined ? undefined : Promise.resolve(training.held);
    const session: TrainingSession = {
      settings,
      options,
      run,
      engine,
      model,
      resumed: from !== null,
      held: () => (held ??= openNamedDataset(settings.evaluation.dataset, settings.environment)),
    };
    // Those of fewer steps; what a run wrote after its last step stays.
    if (!isTrained) for (const file of products) await rm(file, { recursive: true, force: true });
    // The reference is what training started from, also in a resumed run.
    if (training.needsReference) await engine.snapshot("reference");
    await training.begin?.(session);
    if (from !== null) await engine.load(from.path);
    const { done, progress: judged } = isTrained
      ? { done: from.step, progress }
      : await trainSteps(session, training, from);
    const end: TrainingEnd = {
      done,
      kept: judged.kept ?? done,
      progress: judged,
      seconds: () => Math.round((performance.now() - begun) / 100) / 10,
    };
    await keepPolicy(session, training, end);
    return training.finish(session, end);
  });
}

/** The folder of the policy that the run began with. */
async function startingPolicy(
  { trainsFresh = false }: Pick<TrainingMethod<unknown>, "trainsFresh">,
  { policy: { from, fresh }, seed, environment }: Settings,
  { out, download, signal }: Session,
): Promise<string> {
  if (fresh === undefined || !trainsFresh) return policyFolder(from, { ...download, signal });
  const model = checkpointFolder(out, 0);
  await writeFreshPolicy(model, fresh, { seed, environment });
  return model;
}

function nothingLeft(
  { length }: Pick<TrainingMethod<unknown>, "length">,
  out: string,
  from: Checkpoint,
  totalSteps: number,
): ConfigError {
  const policy = join(out, "policy");
  const kept = existsSync(policy) ? policy : from.path;
  return new ConfigError(
    "RUN_NOTHING_LEFT",
    `${out}: its newest checkpoint is step ${from.step} of ${totalSteps}; nothing is left to do. Raise ${length}, or evaluate ${kept}.`,
  );
}

/** What the metrics say up to a step. */
async function progressUpTo(
  training: Pick<OpenTraining<unknown>, "openProgress">,
  out: string,
  lastStep: number,
): Promise<Progress> {
  const progress = training.openProgress();
  for await (const line of readMetrics(join(out, METRICS_FILE)))
    if (line.step <= lastStep) progress.add(line);
  return progress;
}

/** Trains to the last step; after an alarm that asks for it, again from an earlier checkpoint with a lower learning rate. */
async function trainSteps(
  session: TrainingSession,
  training: OpenTraining<unknown>,
  from: Checkpoint | null,
): Promise<{ done: number; progress: Progress }> {
  const { settings, run, engine } = session;
  const { every, keep } = settings.checkpoints;
  let rollbacks = await rollbacksOf(run.path);
  const goesBack = settings.alarms.some(({ action }) => action === "rollback");
  // Fresh adapters lie nowhere else; a whole model lies in its own folder.
  const isInFolder = !engine.capabilities.adapters || existsSync(run.checkpoint(0));
  if (from === null && goesBack && !isInFolder) await saveStart(engine, run.path);
  let firstStep = from?.step ?? 0;
  let state = from === null ? undefined : await methodStateOf(from.path);
  for (;;) {
    const progress = training.openProgress();
    const checkpoints = await openCheckpoints(engine, run.path, {
      every,
      keep,
      firstStep,
      attempt: rollbacks.length,
      best: () => progress.best,
    });
    const leg = { firstStep, state, rollbacks, progress, checkpoints };
    const { done, alarm } = await trainUntilAlarm(session, training, leg);
    if (alarm === null) return { done, progress };
    const limit = await progressUpTo(training, run.path, alarm.lastGoodStep);
    const back = await rollBack(session, { alarm, rollbacks, safe: limit.safe });
    [rollbacks, firstStep, state] = [
      back.rollbacks,
      back.to.step,
      await methodStateOf(back.to.path),
    ];
  }
}

/** The steps from one checkpoint on, and what watches them. */
interface WatchedLeg {
  /** Completed steps. */
  firstStep: number;
  /** The method's state after them. */
  state: unknown;
  rollbacks: readonly Rollback[];
  /** Not fed yet. */
  progress: Progress;
  checkpoints: Checkpoints;
}

/**
 * Trains to the last step, or until an alarm asks for a rollback. However it ends, the last whole step has a checkpoint; after an
 * alarm the weights are not kept.
 *
 * @returns the completed steps, and the alarm for which the run goes back; null: there is none.
 */
async function trainUntilAlarm(
  session: TrainingSession,
  training: OpenTraining<unknown>,
  { firstStep, state: methodState, rollbacks, progress, checkpoints }: WatchedLeg,
): Promise<{ done: number; alarm: TriggeredAlarm | null }> {
  const { settings, options, run, engine } = session;
  const { totalSteps, measuresAfter = false } = training;
  const alarms = openAlarms(settings.alarms);
  let measured = -1;
  for await (const line of readMetrics(join(run.path, METRICS_FILE))) {
    progress.add(line);
    // They have fired then.
    alarms.after(line);
    if (Object.keys(line.metrics).some((name) => name.startsWith("validation/")))
      measured = line.step;
  }
  const record = async (
    step: number,
    metrics: Record<string, number>,
    timing: Record<string, number>,
  ): Promise<TriggeredAlarm[]> => {
    await run.metrics(step, metrics, timing);
    const line: MetricsLine = { step, metrics };
    progress.add(line);
    return alarms.after(line);
  };
  const measure = async (step: number): Promise<TriggeredAlarm[]> => {
    const begun = performance.now();
    const metrics = (await training.measure?.(session, step)) ?? null;
    if (metrics === null) return [];
    return record(step, metrics, { seconds: (performance.now() - begun) / 1000 });
  };
  // A step is whole with its line and before the weights change again.
  const state = {
    done: firstStep,
    version: engine.policyVersion,
    method: methodState,
    alarm: null as TriggeredAlarm | null,
  };
  const saveWhole = async (): Promise<void> => {
    if (state.alarm === null && state.version === engine.policyVersion)
      await checkpoints.save(state.done, state.method);
  };
  if (measured !== firstStep && (firstStep === 0 || measuresAfter)) await measure(firstStep);
  if (progress.enough) return state;
  try {
    await training.train(session, {
      firstStep,
      state: methodState,
      learningRateFactor: settings.rollback.learningRateFactor ** rollbacks.length,
      afterStep: async (outcome) => {
        const { step, metrics, timing, trajectories = [] } = outcome;
        const fired = await record(step, { ...metrics }, { ...timing });
        [state.done, state.version, state.method] = [step, engine.policyVersion, outcome.state];
        options.onStep?.({ step, totalSteps, metrics, timing, trajectories });
        if (measuresAfter) fired.push(...((await unlessDiverged(() => measure(step))) ?? []));
        state.alarm = await handleAlarms(session, fired, rollbacks);
        if (state.alarm !== null) return false;
        if (step % settings.checkpoints.every === 0 || progress.kept === step)
          await checkpoints.save(step, outcome.state);
        await applyControls(session, step, () => checkpoints.save(step, outcome.state));
        return !progress.enough;
      },
    });
  } catch (error) {
    // The first failure matters, not that the weights could then not be saved either.
    await saveWhole().catch(() => undefined);
    throw error;
  }
  await saveWhole();
  return state;
}

/** Does what was asked for since the last step, and what is asked for while the run is paused. @throws {StopRequested} */
async function applyControls(
  session: TrainingSession,
  step: number,
  saveCheckpoint: () => Promise<void>,
): Promise<void> {
  const { control, signal } = session.options;
  if (control === undefined) return;
  do {
    await control.whilePaused(signal);
    const { save, evaluate, stop } = control.take();
    const name = `step-${step}`;
    const isEvaluated = existsSync(join(session.run.path, "eval", `${name}.json`));
    if (evaluate && !isEvaluated) await evaluateNow(session, name);
    if (save) await saveCheckpoint();
    if (stop) throw new StopRequested();
  } while (control.paused);
}

/** Evaluates the present weights on held-out questions, as many as evaluations on the way ask. */
export async function evaluateNow(
  { settings, options, run, engine, model, held }: TrainingSession,
  name: string,
): ReturnType<typeof recordedEvaluation> {
  const limit = settings.evaluation.during?.questions;
  return recordedEvaluation(
    { settings, engine, held: await held(), model },
    run,
    { name, known: false, signal: options.signal, limit },
    options,
  );
}

/** Writes the policy that the run ends with, whole or not at all. */
async function keepPolicy(
  { run, engine }: TrainingSession,
  { policy }: OpenTraining<unknown>,
  { done, kept }: TrainingEnd,
): Promise<void> {
  if (policy === undefined) return;
  if (kept !== done) await engine.load(run.checkpoint(kept));
  await writeWholeFolder(join(run.path, "policy"), async (partial) => {
    await engine.save(partial, { ...policy, merged: true });
    await recordFiles(partial);
  });
}

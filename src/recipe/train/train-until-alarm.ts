import { existsSync } from "node:fs";
import { join } from "node:path";
import { openAlarms, type TriggeredAlarm } from "../../watch/alarms/open-alarms.ts";
import type { MetricsLine } from "../../watch/metrics-line.ts";
import type { Checkpoints } from "../folder/checkpoints.ts";
import { METRICS_FILE, readMetrics } from "../folder/metrics-log.ts";
import type { Rollback } from "../folder/rollbacks.ts";
import { StoppedAsAsked } from "../folder/run-control.ts";
import { recordedEvaluation } from "../held-out-evaluation.ts";
import { handleAlarms } from "./rollback.ts";
import type { OpenTraining, Progress, TrainingSession } from "./training-method.ts";

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
export async function trainUntilAlarm(
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
    ...{ done: firstStep, version: engine.policyVersion, method: methodState },
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
      ...{ firstStep, state: methodState },
      learningRateFactor: settings.rollback.learningRateFactor ** rollbacks.length,
      afterStep: async (outcome) => {
        const { step, metrics, timing, trajectories = [] } = outcome;
        const fired = await record(step, { ...metrics }, { ...timing });
        [state.done, state.version, state.method] = [step, engine.policyVersion, outcome.state];
        options.onStep?.({ step, totalSteps, metrics, timing, trajectories });
        if (measuresAfter) fired.push(...(await measure(step)));
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

/** Does what was asked for since the last step, and what is asked for while the run is paused. @throws {StoppedAsAsked} */
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
    if (stop) throw new StoppedAsAsked();
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
    { name, known: false, signal: options.signal, ...(limit === undefined ? {} : { limit }) },
    options,
  );
}

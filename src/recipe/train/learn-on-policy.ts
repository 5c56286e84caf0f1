import { join } from "node:path";
import { ExternalError } from "../../base/errors.ts";
import { algorithms } from "../../train/index.ts";
import { trainOnPolicy, type OnPolicyOptions, type OnPolicyStep } from "../../train/on-policy.ts";
import type { Environment } from "../../env/environments/environment.ts";
import {
  openAlarms,
  type AlarmWatch,
  type TriggeredAlarm,
} from "../../watch/alarms/open-alarms.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import { environmentOver, policyOf, retrieverOver, weightedRewards } from "../assemble.ts";
import { HELD_OUT_EM, openBestSoFar, type BestSoFar } from "../folder/best-so-far.ts";
import {
  type Checkpoint,
  type Checkpoints,
  newestCheckpoint,
  openCheckpoints,
  saveStart,
  savingAtEnd,
} from "../folder/checkpoints.ts";
import { checkFirstBatch } from "./first-batch.ts";
import { recordedEvaluation } from "../held-out-evaluation.ts";
import { METRICS_FILE, readMetrics } from "../folder/metrics-log.ts";
import { checkpointDamaged } from "../folder/resume-point.ts";
import {
  isCurrent,
  recordRollback,
  type Rollback,
  rollbacksOf,
  setAside,
} from "../folder/rollbacks.ts";
import { StoppedAsAsked } from "../folder/run-control.ts";
import { openRoles, takeSnapshots } from "../roles.ts";
import { type RewardScoring, rewardScoring } from "./reward-scoring.ts";
import type { TrainSession } from "./train-session.ts";

/**
 * Trains from a checkpoint, or from the start, to the last step: metrics, batches and checkpoints are kept, alarms are watched, and
 * where one says so the run goes back to its best checkpoint and on from there with a lower learning rate.
 *
 * Everything that decides is a function of the metrics and the checkpoints on disk, so that a resumed run goes on as an uninterrupted
 * one.
 *
 * @throws {ExternalError} RUN_ALARM when an alarm ends the run.
 * @throws {StoppedAsAsked} when its control says so.
 */
export async function learnOnPolicy(session: TrainSession, from: Checkpoint | null): Promise<void> {
  const { settings, run, engine, train } = session;
  const retriever = await retrieverOver(train, settings, "training");
  const roles = openRoles(settings, {
    policy: { engine, model: session.model },
    download: { ...session.options.download, signal: session.options.signal },
  });
  const environment = environmentOver(retriever, settings, "training", roles);
  const rewards = rewardScoring(session, { retriever, roles });
  let rollbacks = await rollbacksOf(run.path);
  try {
    // Fresh adapters lie nowhere else; a whole model lies in its own folder.
    if (from === null && engine.lora !== null && goesBack(settings)) {
      await saveStart(engine, run.path);
    }
    let firstStep = from?.step ?? 0;
    for (;;) {
      const alarm = await pass(session, { environment, rewards, firstStep, rollbacks });
      if (alarm === null) return;
      const back = await goBack(session, alarm, rollbacks);
      rollbacks = back.rollbacks;
      firstStep = back.to.step;
    }
  } finally {
    await roles.close();
    await retriever.close();
  }
}

function goesBack({ alarms }: TrainSession["settings"]): boolean {
  return alarms.some(({ action }) => action === "rollback");
}

/** One way from a step to the last. @returns the alarm for which the run goes back; null when it is done. */
async function pass(
  session: TrainSession,
  way: {
    environment: Environment;
    rewards: RewardScoring;
    firstStep: number;
    rollbacks: readonly Rollback[];
  },
): Promise<TriggeredAlarm | null> {
  const { settings, options, run, engine, train, model, algorithm } = session;
  const { environment, rewards, firstStep, rollbacks } = way;
  const { name, ...given } = algorithm;
  const algorithmOptions = given as unknown as OnPolicyOptions;
  const { best, alarms } = await historyOf(session);
  const checkpoints = await openCheckpoints(engine, run.path, {
    ...{ ...settings.checkpoints, firstStep, attempt: rollbacks.length },
    best: () => best.best?.step ?? null,
  });
  const so = {
    done: firstStep,
    version: engine.policyVersion,
    back: null as TriggeredAlarm | null,
  };
  // Neither what is gone back from is kept, nor the weights of a step that is not whole.
  const last = (): number | null =>
    so.back === null && so.version === engine.policyVersion ? so.done : null;
  await savingAtEnd(checkpoints, last, async () =>
    trainOnPolicy({
      ...{ algorithm: algorithms.get(name, "algorithm"), options: algorithmOptions },
      ...{ engine, environment, strategy: settings.strategy, firstStep },
      policy: await policyOf(engine, settings, model, environment),
      tasks: await train.tasks(),
      ...{ rewards: weightedRewards(settings), ...rewards, sampling: settings.sampling },
      onStepBegin: (step) => takeSnapshots(settings, engine, step),
      ...{ seed: settings.seed, signal: options.signal },
      learningRateFactor: settings.rollback.learningRateFactor ** rollbacks.length,
      onBatch: async (trajectories, step) => {
        await run.trajectories(step, trajectories);
        options.onBatch?.(trajectories, step);
        if (step > firstStep + 1 || !settings.batchCheck) return;
        const file = join(run.path, "trajectories", `step-${step}.jsonl`);
        const { protocol } = environment;
        const by = { settings, engine, protocol, step, file };
        await session.run.event(await checkFirstBatch(trajectories, by));
      },
      onStep: async (step) => {
        const done = step.step;
        const data = { ...step.metrics, ...(await evaluatedOnTheWay(session, done)) };
        await run.metrics(done, data, timingOf(step));
        // Whole with its line: a run that goes on from a checkpoint does not write it again.
        [so.done, so.version] = [done, engine.policyVersion];
        best.add({ step: done, metrics: data });
        options.onStep?.({ ...step, metrics: data, totalSteps: algorithmOptions.steps });
        so.back = await ring(session, alarms.after({ step: done, metrics: data }), rollbacks);
        if (so.back !== null) return false;
        if (done % settings.checkpoints.every === 0) await checkpoints.save(done);
        await doAsAsked(session, done, checkpoints);
        return true;
      },
    }),
  );
  return so.back;
}

/** What the metrics say, up to a step: the best checkpoint, and the state of the alarms. */
async function historyOf(
  { settings, run }: TrainSession,
  lastStep = Infinity,
): Promise<{ best: BestSoFar; alarms: AlarmWatch }> {
  const { every } = settings.checkpoints;
  const usesEvaluations = settings.evaluation.during !== undefined;
  const best = openBestSoFar({ every, usesEvaluations });
  const alarms = openAlarms(settings.alarms);
  for await (const line of readMetrics(join(run.path, METRICS_FILE))) {
    if (line.step > lastStep) break;
    best.add(line);
    // They have rung then.
    alarms.after(line);
  }
  return { best, alarms };
}

/** Does what was asked for since the last step, and what is asked for while the run is paused. @throws {StoppedAsAsked} */
async function doAsAsked(
  session: TrainSession,
  done: number,
  checkpoints: Checkpoints,
): Promise<void> {
  const { control, signal } = session.options;
  if (control === undefined) return;
  do {
    await control.whilePaused(signal);
    const { save, evaluate, stop } = control.take();
    if (evaluate && !isEvaluated(session, done)) await evaluateAfter(session, done);
    if (save) await checkpoints.save(done);
    if (stop) throw new StoppedAsAsked();
  } while (control.paused);
}

/** Whether the recipe has the policy evaluated after a step. */
function isEvaluated({ settings }: TrainSession, step: number): boolean {
  const { during } = settings.evaluation;
  return during !== undefined && step % during.every === 0;
}

/** Evaluates where it is due. @returns what belongs to the step's metrics. */
async function evaluatedOnTheWay(
  session: TrainSession,
  step: number,
): Promise<Record<string, number>> {
  if (!isEvaluated(session, step)) return {};
  const { metrics } = await evaluateAfter(session, step);
  return { [HELD_OUT_EM]: metrics.em, "eval/f1": metrics.f1 };
}

function evaluateAfter(
  { settings, options, run, engine, held, model }: TrainSession,
  step: number,
): ReturnType<typeof recordedEvaluation> {
  const limit = settings.evaluation.during?.questions;
  const given = { name: `step-${step}`, known: false, signal: options.signal };
  return recordedEvaluation(
    { settings, engine, held, model },
    run,
    { ...given, ...(limit === undefined ? {} : { limit }) },
    options,
  );
}

function timingOf({ timings, tokens }: OnPolicyStep): Record<string, number> {
  const { rollout, update } = timings;
  const tokensPerSecond = ((tokens.sampled + tokens.trained) / (rollout + update)) * 1000;
  return { ...timings, tokensPerSecond };
}

/**
 * Says what alarms found, and does what the gravest of them asks for.
 * @returns the one for which the run goes back; null: it goes on.
 * @throws {ExternalError} RUN_ALARM
 */
async function ring(
  session: TrainSession,
  rung: readonly TriggeredAlarm[],
  rollbacks: readonly Rollback[],
): Promise<TriggeredAlarm | null> {
  const { settings, options } = session;
  for (const { step, message, ...facts } of rung)
    await session.run.event({ kind: "alarm", step, message, facts });
  const stop = rung.find(({ action }) => action === "stop");
  const back = rung.find(({ action }) => action === "rollback");
  const gravest = stop ?? back;
  if (gravest === undefined) return null;
  if (stop === undefined && rollbacks.length < settings.rollback.most) return gravest;
  const { alarm, step } = gravest;
  const again = stop === undefined ? ` It has gone back ${rollbacks.length} times before.` : "";
  throw new ExternalError(
    "RUN_ALARM",
    `${options.out}: stopped after step ${step} by the alarm ${alarm}.${again} All until then is kept. docs/alarms.md says what the alarm means; change what caused it, or go on with --resume and --set alarms=[] if it is no trouble.`,
  );
}

/** Goes back to the best checkpoint before things went wrong, or to the start where there is none. */
async function goBack(
  session: TrainSession,
  { step, alarm, lastGoodStep }: TriggeredAlarm,
  before: readonly Rollback[],
): Promise<{ to: Checkpoint; rollbacks: Rollback[] }> {
  const { run, engine, settings, model } = session;
  const { best } = await historyOf(session, lastGoodStep);
  const bestStep = best.best?.step ?? 0;
  const damaged: RunEvent[] = [];
  const kept = await newestCheckpoint(run.path, {
    isCurrent: (each) => each.step <= bestStep && isCurrent(each, before),
    onDamaged: (checkpoint, why) => damaged.push(checkpointDamaged(checkpoint, why, step)),
  });
  for (const event of damaged) await run.event(event);
  // Adapters that were fresh at the start lie nowhere but in a checkpoint of it.
  if (kept === null && engine.lora !== null) {
    throw new ExternalError(
      "RUN_ALARM",
      `${run.path}: the alarm ${alarm} after step ${step} wants to go back, and there is no checkpoint to go back to. All until then is kept; begin anew with --overwrite, where the start is kept.`,
    );
  }
  const to = kept ?? { path: model, step: 0 };
  const rollbacks = [...before, { step, to: to.step, alarm }];
  await recordRollback(run.path, rollbacks);
  await run.rewind(to.step, () => setAside(run.path, rollbacks));
  await engine.load(to.path);
  const factor = settings.rollback.learningRateFactor ** rollbacks.length;
  await session.run.event({
    ...{ kind: "rollback", step },
    message: `went back from step ${step} to step ${to.step}, and on at ${factor} times the learning rate`,
    facts: { from: step, to: to.step, alarm, learningRateFactor: factor },
  });
  return { to, rollbacks };
}

import { DataError, ExternalError } from "../../base/errors.ts";
import type { TriggeredAlarm } from "../../watch/alarms/open-alarms.ts";
import type { RunEvent } from "../../watch/run-event.ts";
import { type Checkpoint, newestCheckpoint } from "../folder/checkpoints.ts";
import { checkpointDamaged } from "../folder/resume-point.ts";
import { isCurrent, recordRollback, type Rollback, setAside } from "../folder/rollbacks.ts";
import type { TrainingSession } from "./training-method.ts";

/**
 * Records alarms, and decides by the gravest of them.
 * @returns the alarm for which the run goes back; null: it continues.
 * @throws {ExternalError} RUN_ALARM
 */
export async function handleAlarms(
  { settings, options, run }: TrainingSession,
  fired: readonly TriggeredAlarm[],
  rollbacks: readonly Rollback[],
): Promise<TriggeredAlarm | null> {
  for (const { step, message, ...facts } of fired)
    await run.event({ kind: "alarm", step, message, facts });
  const stop = fired.find(({ action }) => action === "stop");
  const gravest = stop ?? fired.find(({ action }) => action === "rollback");
  if (gravest === undefined) return null;
  if (stop === undefined && rollbacks.length < settings.rollback.most) return gravest;
  const { alarm, step } = gravest;
  const again = stop === undefined ? ` It has gone back ${rollbacks.length} times before.` : "";
  throw new ExternalError(
    "RUN_ALARM",
    `${options.out}: stopped after step ${step} by the alarm ${alarm}.${again} All steps until then are kept. docs/alarms.md explains the alarm; change what caused it, or continue with --resume and --set alarms=[] if it is harmless.`,
  );
}

/**
 * Returns to the newest checkpoint up to a safe step, or to the start where there is none.
 * @throws {ExternalError} RUN_ALARM where the start was not kept.
 */
export async function goBack(
  { run, engine, settings, model }: TrainingSession,
  from: { alarm: TriggeredAlarm; rollbacks: readonly Rollback[]; safe: number },
): Promise<{ to: Checkpoint; rollbacks: Rollback[] }> {
  const { safe } = from;
  const { step, alarm } = from.alarm;
  const damaged: RunEvent[] = [];
  const kept = await newestCheckpoint(run.path, {
    isCurrent: (each) => each.step <= safe && isCurrent(each, from.rollbacks),
    onDamaged: (checkpoint, why) => damaged.push(checkpointDamaged(checkpoint, why, step)),
  });
  for (const event of damaged) await run.event(event);
  // Adapters that were fresh at the start lie nowhere but in a checkpoint of it.
  if (kept === null && engine.capabilities.adapters) {
    throw new ExternalError(
      "RUN_ALARM",
      `${run.path}: the alarm ${alarm} after step ${step} asks for a rollback, and there is no checkpoint to go back to. All steps until then are kept; start anew with --overwrite, which keeps the start.`,
    );
  }
  const to = kept ?? { path: model, step: 0 };
  const rollbacks = [...from.rollbacks, { step, to: to.step, alarm }];
  await recordRollback(run.path, rollbacks);
  await run.rewind(to.step, () => setAside(run.path, rollbacks));
  await engine.load(to.path);
  const factor = settings.rollback.learningRateFactor ** rollbacks.length;
  await run.event({
    kind: "rollback",
    step,
    message: `went back from step ${step} to step ${to.step}, and on at ${factor} times the learning rate`,
    facts: { from: step, to: to.step, alarm, learningRateFactor: factor },
  });
  return { to, rollbacks };
}

/** Null where the weights are not finite: the alarm on the step's metrics decides what follows. */
export async function unlessDiverged<T>(work: () => Promise<T>): Promise<T | null> {
  return work().catch((error: unknown) => {
    if (error instanceof DataError && error.code === "WEIGHT_NOT_FINITE") return null;
    throw error;
  });
}

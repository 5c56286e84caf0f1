import type { RunEvent } from "../../watch/run-event.ts";
import { type Checkpoint, newestCheckpoint } from "./checkpoints.ts";
import { isCurrent, rollbacksOf, setAside } from "./rollbacks.ts";

/** Where a run starts, and the events to record once its folder is open. */
export interface ResumePoint {
  /** null: at the start. */
  from: Checkpoint | null;
  events: RunEvent[];
}

/** Where a run starts or resumes. @param resume false: at the start. */
export async function resumePoint(out: string, resume = false): Promise<ResumePoint> {
  if (!resume) return { from: null, events: [] };
  const events: RunEvent[] = [];
  const rollbacks = await rollbacksOf(out);
  await setAside(out, rollbacks);
  const from = await newestCheckpoint(out, {
    isCurrent: (each) => isCurrent(each, rollbacks),
    onDamaged: (checkpoint, why) =>
      events.push(checkpointDamaged(checkpoint, why, checkpoint.step)),
  });
  const step = from?.step ?? 0;
  const message = from === null ? "no checkpoint: starts again" : `resumes from step ${step}`;
  events.push({ kind: "resumed", step, message, facts: { checkpoint: from?.path ?? null } });
  return { from, events };
}

/** The event of an unusable checkpoint. @param at completed steps. */
export function checkpointDamaged({ path, step }: Checkpoint, why: string, at: number): RunEvent {
  return {
    kind: "checkpoint-damaged",
    step: at,
    message: `${path}: cannot be used (${why}); the one before it is used`,
    facts: { path, checkpoint: step, why },
  };
}

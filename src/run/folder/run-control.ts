import { once } from "node:events";

/** Requests of a person who watches a run. They are handled between steps. */
export interface RunControl {
  readonly paused: boolean;
  pause(): void;
  resume(): void;
  /** A checkpoint after the current step. */
  save(): void;
  /** An evaluation on held-out questions after the current step. */
  evaluate(): void;
  /** Stops after the current step with a checkpoint, so that the run can be resumed. */
  stop(): void;
}

/** The run's end of a control. */
export interface ControlledRun extends RunControl {
  /** Resolves at once unless the run is paused; then when it continues, or a key asks for something. */
  whilePaused(signal: AbortSignal): Promise<void>;
  /** Requests since the last call. */
  take(): { save: boolean; evaluate: boolean; stop: boolean };
}

export function openRunControl(): ControlledRun {
  const told = new EventTarget();
  let paused = false;
  const nothing = { save: false, evaluate: false, stop: false };
  let asked = { ...nothing };
  const tell = (): void => {
    told.dispatchEvent(new Event("told"));
  };
  const resume = (): void => {
    paused = false;
    tell();
  };
  return {
    get paused() {
      return paused;
    },
    pause() {
      paused = true;
    },
    resume,
    save() {
      asked.save = true;
      tell();
    },
    evaluate() {
      asked.evaluate = true;
      tell();
    },
    stop() {
      asked.stop = true;
      // A stop request also ends a pause.
      resume();
    },
    async whilePaused(signal) {
      if (paused && !Object.values(asked).includes(true)) await once(told, "told", { signal });
    },
    take() {
      const taken = asked;
      asked = { ...nothing };
      return taken;
    },
  };
}

/** Ends a run on request: its folder stays as it is, and --resume continues it. */
export class StoppedAsAsked extends Error {
  constructor() {
    super("The run was asked to stop after a step.");
    this.name = "AbortError";
  }
}

/** Whether somebody ended a run, rather than something. */
export function endedAsAsked(error: unknown, signal: AbortSignal): boolean {
  return signal.aborted || error instanceof StoppedAsAsked;
}

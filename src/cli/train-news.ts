import type { RunEvents } from "../run/train/run-events.ts";

/** Shows a training to people while it runs. */
export interface TrainWatch {
  readonly news: RunEvents;
  /** Clears temporary output and releases the terminal; may be called again. */
  readonly stop: () => void;
}

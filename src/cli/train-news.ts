import type { RunEvents } from "../recipe/train/run-events.ts";

/** Shows a training to people while it runs. */
export interface TrainWatch {
  readonly news: RunEvents;
  /** Clears what would be overwritten and gives the terminal back; may be called again. */
  readonly stop: () => void;
}

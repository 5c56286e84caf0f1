import type { RunEvent } from "../watch/run-event.ts";

/** An event of a run as a line: `alarm, after step 12: …`. */
export function eventLine({ kind, step, message }: RunEvent): string {
  return `${kind}, after step ${step}: ${message}`;
}

import type { RunEvent } from "../watch/run-event.ts";

/** What happened to a run, as a line for people: `alarm, after step 12: …`. */
export function eventLine({ kind, step, message }: RunEvent): string {
  return `${kind}, after step ${step}: ${message}`;
}

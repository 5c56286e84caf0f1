/** What is known of a wait that has lasted. */
export interface LongWait {
  /** Who or what is waited for. */
  owner: string;
  /** What for. */
  subject: string;
  waitedMs: number;
  /** When it began, or last showed life, as ISO time. */
  since: string;
  /** When it is given up, counted from then; null: never. */
  deadlineMs: number | null;
  /** Further waits for the same owner that have lasted. */
  others: number;
}

/**
 * One sentence about a wait that goes on.
 * @example longWaitMessage(…) // 'waiting 45 s: tool corpus-search for trajectory 3-1-2 (query "x"), since 04:31:07; given up after 120 s'
 */
export function longWaitMessage(wait: LongWait): string {
  const { owner, subject, waitedMs, since, deadlineMs, others } = wait;
  const end = deadlineMs === null ? "nothing gives it up" : `given up after ${seconds(deadlineMs)}`;
  const more = others === 0 ? "" : `; ${others} more ${others === 1 ? "waits" : "wait"} for it`;
  return `waiting ${seconds(waitedMs)}: ${owner} for ${subject}, since ${timeOfDay(since)}; ${end}${more}`;
}

/** The time of day here, to the second. */
export function timeOfDay(iso: string): string {
  return new Date(iso).toTimeString().slice(0, 8);
}

/** Milliseconds in the unit that people wait in. @example seconds(45_300) // "45 s" */
export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 1000)} s`;
}

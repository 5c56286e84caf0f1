/** Facts about a call that has been pending for long. */
export interface LongWait {
  /** The tool, server, thread or disk that has not answered. */
  owner: string;
  subject: string;
  waitedMs: number;
  since: string;
  deadlineMs: number | null;
  /** Number of further long calls to the same owner. */
  others: number;
}

/** One sentence about a long pending call: 'waiting 45 s: tool corpus-search for trajectory 3-1-2, since 04:31:07; deadline 120 s'. */
export function longWaitMessage(wait: LongWait): string {
  const { owner, subject, waitedMs, since, deadlineMs, others } = wait;
  const end = deadlineMs === null ? "no deadline" : `deadline ${seconds(deadlineMs)}`;
  const more = others === 0 ? "" : `; ${others} more ${others === 1 ? "waits" : "wait"} for it`;
  return `waiting ${seconds(waitedMs)}: ${owner} for ${subject}, since ${timeOfDay(since)}; ${end}${more}`;
}

/** Local time of day, to the second. */
export function timeOfDay(iso: string): string {
  return new Date(iso).toTimeString().slice(0, 8);
}

/** Milliseconds in a readable unit. @example seconds(45_300) // "45 s" */
export function seconds(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${Math.round(ms / 1000)} s`;
}

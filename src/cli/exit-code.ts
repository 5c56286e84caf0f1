import {
  AgentrlError,
  ConfigError,
  DataError,
  ExternalError,
  RolloutError,
  ScoreError,
} from "../base/errors.ts";

/** Meaning of the exit status. */
export const EXIT = {
  done: 0,
  bug: 1,
  usage: 2,
  data: 3,
  failed: 4,
  scoreMissed: 5,
  notEvaluated: 6,
  /** The engine stopped responding; the run can be resumed. */
  stalled: 7,
  /** The terminal was closed: 128 + SIGHUP. */
  hungUp: 129,
  /** Ctrl-C: 128 + SIGINT. */
  interrupted: 130,
  /** The reader of stdout went away: 128 + SIGPIPE. */
  pipeClosed: 141,
  /** SIGTERM, as containers and schedulers send it: 128 + SIGTERM. */
  terminated: 143,
} as const;

const byClass = [
  [ConfigError, EXIT.usage],
  [DataError, EXIT.data],
  [ExternalError, EXIT.failed],
  [RolloutError, EXIT.failed],
] as const;

/** The exit status for anything that a command threw; an error of no known class is a bug. */
export function exitCodeOf(error: unknown): number {
  if (error instanceof ScoreError)
    return error.code === "SCORE_MISSED" ? EXIT.scoreMissed : EXIT.notEvaluated;
  if (error instanceof ExternalError && error.code === "ENGINE_STALLED") return EXIT.stalled;
  return byClass.find(([type]) => error instanceof type)?.[1] ?? EXIT.bug;
}

/** Whether to show only the message, because the user can act on it. */
export function isKnown(error: unknown): error is AgentrlError {
  return error instanceof AgentrlError && exitCodeOf(error) !== EXIT.bug;
}

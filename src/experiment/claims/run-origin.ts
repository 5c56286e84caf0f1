/** Where a run's numbers come from. */
export interface RunOrigin {
  version: string;
  /** Commit of the checkout; null for an installed package, absent in older results. */
  commit?: string | null;
  /** Hash of the code that decides numbers (`codeHash`); absent in older results. */
  code?: string;
  /** Day of the run: `2026-11-22`. */
  date: string;
  /** Command line that ran it. */
  command: string;
  /** Processor, cores, platform, Node.js; nothing of a run that was given. */
  machine: Record<string, unknown>;
  /** The evaluations of a run that was trained elsewhere: nothing is known of its training. Absent: it was run by `command`. */
  given?: GivenEvaluation[];
}

/** One evaluation of a run that was trained elsewhere. */
export interface GivenEvaluation {
  folder: string;
  dataset: string;
  policy: string;
  /** Of its protocol. */
  fingerprint: string;
}

/** @example "a processor, 2 cores, linux-x64" */
export function machineText({ cpu, cores, platform }: RunOrigin["machine"]): string {
  if (typeof cpu !== "string") return "trained elsewhere";
  return `${cpu}, ${String(cores)} cores, ${String(platform)}`;
}

/** First and last day of runs. @example "2026-11-21 to 2026-11-22" */
export function daysText(runs: readonly { origin: RunOrigin }[]): string {
  const days = runs.map(({ origin }) => origin.date).sort();
  const [first = "", last] = [days[0], days.at(-1)];
  return first === last ? first : `${first} to ${last ?? ""}`;
}

/** Where a run's numbers come from. */
export interface RunOrigin {
  version: string;
  /** Day of the run: `2026-11-22`. */
  date: string;
  /** Command line that ran it. */
  command: string;
  /** Processor, cores, platform, Node.js. */
  machine: Record<string, unknown>;
}

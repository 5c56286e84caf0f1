import type { PartWithOptions } from "../../base/part-schema.ts";
import type { MetricsLine } from "../metrics-line.ts";

/** What is done when a rule is broken: it is said; the run ends; it goes back to its best checkpoint with a lower learning rate. */
export const alarmActions = ["warn", "stop", "rollback"] as const;
export type AlarmAction = (typeof alarmActions)[number];

/** A broken rule. */
export interface Finding {
  metric: string;
  /** NaN where that is what was found. */
  value: number;
  /** What the value may be at most, or at least. */
  limit: number;
  /** The last step before the limit was passed, as the rule sees it: its batch is the last good one. 0: none was. */
  lastGoodStep: number;
  /** One sentence or two: what was found against what, over which steps. */
  message: string;
}

/** A rule on a run's metrics. A function of them alone, so that a resumed run rings as an uninterrupted one. */
export interface Alarm extends PartWithOptions {
  /** The metrics that it judges; `reward/<name>` stands for every reward by its name. */
  readonly metrics: readonly string[];
  /** Why it is looked at, with its source. */
  readonly source: string;
  /** What to try when it rings: a sentence. */
  readonly advice: string;
  /** Steps that it looks back at most. */
  window(options: Readonly<Record<string, unknown>>): number;
  /** @param lines at most `window` steps, the newest last; a metric that a line lacks is not judged. */
  check(lines: readonly MetricsLine[], options: Readonly<Record<string, unknown>>): Finding | null;
}

/** Types a rule's options by its own schema. */
export function defineAlarm<S extends PartWithOptions["options"]>(
  rule: Omit<Alarm, "options" | "window" | "check"> & {
    options: S;
    window(options: ReturnType<S["parse"]>): number;
    check(lines: readonly MetricsLine[], options: ReturnType<S["parse"]>): Finding | null;
  },
): Alarm {
  return rule;
}

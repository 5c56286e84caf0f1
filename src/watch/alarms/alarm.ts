import { type PartWithOptions, definer } from "../../base/define-part.ts";
import { requireReturned } from "../../base/registry.ts";
import type { MetricsLine } from "../metrics-line.ts";

/** What an alarm does: warn; stop the run; roll back to the best checkpoint with a lower learning rate. */
export const alarmActions = ["warn", "stop", "rollback"] as const;
export type AlarmAction = (typeof alarmActions)[number];

/** Why an alarm fires. */
export interface Finding {
  metric: string;
  /** The metric's value; may be NaN. */
  value: number;
  /** Largest or smallest allowed value. */
  limit: number;
  /** The last step within the limit, whose batch is the last good one; 0: none. */
  lastGoodStep: number;
  /** One or two sentences: the value, the limit, the steps. */
  message: string;
}

/** A rule on a run's metrics. A function of the metrics alone: a resumed run fires as an uninterrupted one. */
export interface Alarm extends PartWithOptions {
  /** The metrics that it judges; `reward/<name>` stands for every reward by its name. */
  readonly metrics: readonly string[];
  /** Where the rule comes from. */
  readonly source: string;
  /** What to try when it fires: a sentence. */
  readonly advice: string;
  /** Most steps that it looks back; 1 where its file has none. */
  window(options: Readonly<Record<string, unknown>>): number;
  /** @param lines at most `window` steps, the newest last; a metric that a line lacks is not judged. */
  check(lines: readonly MetricsLine[], options: Readonly<Record<string, unknown>>): Finding | null;
}

/** Makes an alarm. @throws {ConfigError} PLUGIN_BAD_PART without check, metrics or advice. */
export const defineAlarm = definer<Alarm>()("alarm", {
  defaults: { source: "" },
  members: { metrics: "list", advice: "text" },
  functions: {
    window: { at: 0, otherwise: 1 },
    check: {
      at: 1,
      returned(finding: Finding | null, { what }) {
        if (finding !== null) requireReturned(what, finding, { metric: "text", message: "text" });
        return finding;
      },
    },
  },
});

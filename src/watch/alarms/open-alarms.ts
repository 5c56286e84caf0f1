import type { MetricsLine } from "../metrics-line.ts";
import type { AlarmAction, Finding } from "./alarm.ts";
import type { NamedAlarm } from "./alarm-settings.ts";
import { alarms } from "./index.ts";

/** A rule that was broken at a step. Its message also names the last good batch, and says what to try. */
export interface TriggeredAlarm extends Finding {
  /** From 1. */
  step: number;
  alarm: string;
  action: AlarmAction;
}

/** A recipe's alarms over a run. */
export interface AlarmWatch {
  /** @returns what began to ring with this step, in the recipe's order: a rule rings once, and again after it was quiet. */
  after(line: MetricsLine): TriggeredAlarm[];
}

/** Steps in a row that a rule must hold before it can ring again: a value that wavers at its limit rings once. */
const QUIET_STEPS = 5;

/**
 * Opens alarms over a run. What rings is a function of its lines alone: opened with the first lines of a run as history, the rest
 * rings as if it had been opened at the start. Memory is bounded by the rules' windows.
 *
 * @param history of a resumed run, from step 1; what rang in it does not ring again.
 */
export function openAlarms(
  named: readonly NamedAlarm[],
  history: readonly MetricsLine[] = [],
): AlarmWatch {
  const rules = named.map(({ name, action, ...options }) => {
    const alarm = alarms.get(name, "alarms");
    return { alarm, action, options, window: alarm.window(options), quiet: QUIET_STEPS };
  });
  const longest = Math.max(1, ...rules.map(({ window }) => window));
  let lines: MetricsLine[] = [];
  const after = (line: MetricsLine): TriggeredAlarm[] => {
    lines = [...lines.slice(-(longest - 1)), line].slice(-longest);
    return rules.flatMap((rule) => {
      const { alarm, action, options, window } = rule;
      const finding = alarm.check(lines.slice(-window), options);
      const rings = finding !== null && rule.quiet >= QUIET_STEPS;
      rule.quiet = finding === null ? rule.quiet + 1 : 0;
      if (!rings) return [];
      const message = `${finding.message} ${lastGood(finding)} ${alarm.advice}`;
      return [{ step: line.step, alarm: alarm.name, action, ...finding, message }];
    });
  };
  for (const line of history) after(line);
  return { after };
}

function lastGood({ lastGoodStep }: Finding): string {
  return lastGoodStep === 0
    ? "No step was within the limit."
    : `The last step within it was ${lastGoodStep}: the same command with --replay-batch ${lastGoodStep} tries its batch with other settings.`;
}

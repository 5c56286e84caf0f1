import type { MetricsLine } from "../metrics-line.ts";
import type { AlarmAction, Finding } from "./alarm.ts";
import type { NamedAlarm } from "./alarm-settings.ts";
import { alarms } from "./index.ts";

/** An alarm that fired at a step. Its message also names the last good batch and gives advice. */
export interface TriggeredAlarm extends Finding {
  /** From 1. */
  step: number;
  alarm: string;
  action: AlarmAction;
}

export interface AlarmWatch {
  /** @returns alarms that start at this step, in the recipe's order: an alarm fires once, and again after it was quiet. */
  after(line: MetricsLine): TriggeredAlarm[];
}

/** Steps in a row without a finding before an alarm can fire again: a value that wavers at its limit fires once. */
const QUIET_STEPS = 5;

/**
 * Opens alarms over a run. They depend on its metrics alone: opened with the first lines of a run as history, they fire on the rest
 * as if they had been open from the start. Memory is bounded by the alarms' windows.
 *
 * @param history of a resumed run, from step 1; an alarm that fired in it does not fire again.
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
      const fires = finding !== null && rule.quiet >= QUIET_STEPS;
      rule.quiet = finding === null ? rule.quiet + 1 : 0;
      if (!fires) return [];
      const message = `${finding.message} ${lastGood(finding, line)} ${alarm.advice}`;
      return [{ step: line.step, alarm: alarm.name, action, ...finding, message }];
    });
  };
  for (const line of history) after(line);
  return { after };
}

function lastGood({ lastGoodStep }: Finding, { metrics }: MetricsLine): string {
  if (lastGoodStep === 0) return "No step was within the limit.";
  const found = `The last step within it was ${lastGoodStep}`;
  // Only batches of rollouts are kept.
  const isKept = Object.keys(metrics).some((name) => name.startsWith("rollout/"));
  if (!isKept) return `${found}.`;
  return `${found}: the same command with --replay-batch ${lastGoodStep} tries its batch with other settings.`;
}

import { partSchema } from "../../base/part-schema.ts";
import { z } from "../../base/schema.ts";
import { type AlarmAction, alarmActions } from "./alarm.ts";
import { alarms } from "./index.ts";

/** Of a rule that a recipe names: what is done when it rings. */
const action = z.enum(alarmActions).default("warn");

/** A number that is none cannot be learnt from; all else is for somebody to judge. */
const usual = alarms.names.map((name) => {
  return { name, action: name === "not-a-number" ? "rollback" : "warn" } satisfies {
    name: string;
    action: AlarmAction;
  };
});

/** A recipe's `alarms`: every rule by default; an empty list watches nothing. A rule may be named twice, with other limits. */
export const alarmsSchema = z.array(partSchema(alarms, { action })).prefault(usual);

/** A rule as a recipe names it: its own options beside its action. */
export type NamedAlarm = z.output<typeof alarmsSchema>[number];

import { partSchema } from "../../base/define-part.ts";
import { z } from "../../base/schema.ts";
import { type AlarmAction, alarmActions } from "./alarm.ts";
import { alarms } from "./index.ts";

const action = z.enum(alarmActions).default("warn");

/** A run cannot learn from NaN, so that alarm rolls back; a person judges all others. */
const usual = () =>
  alarms.names.map((name): { name: string; action: AlarmAction } => {
    return { name, action: name === "not-a-number" ? "rollback" : "warn" };
  });

/** A recipe's `alarms`: every alarm by default, also those of its plugins; an empty list watches nothing. An alarm may be listed twice, with other limits. */
export const alarmsSchema = z.array(partSchema(alarms, { action })).prefault(usual);

/** An alarm of a recipe: its options beside its action. */
export type NamedAlarm = z.output<typeof alarmsSchema>[number];

import { existsSync } from "node:fs";
import { join } from "node:path";
import { readJsonl } from "../../base/jsonl.ts";
import { z } from "../../base/schema.ts";

const eventSchema = z.looseObject({
  /** As src/watch/run-event.ts lists them, or of a later version. */
  kind: z.string(),
  step: z.int(),
  message: z.string(),
  facts: z.record(z.string(), z.unknown()).default({}),
  /** ISO time. */
  at: z.string().nullable().default(null),
});

/** A line of `events.jsonl`. */
export type LoggedEvent = z.output<typeof eventSchema>;

/** The events of a run, in order; a cut last line and unknown lines are skipped. */
export async function readRunEvents(folder: string): Promise<LoggedEvent[]> {
  const file = join(folder, "events.jsonl");
  if (!existsSync(file)) return [];
  const events: LoggedEvent[] = [];
  for await (const { value } of readJsonl(file, { tolerateCutEnd: true })) {
    const event = eventSchema.safeParse(value);
    if (event.success) events.push(event.data);
  }
  return events;
}

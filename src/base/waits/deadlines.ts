import { z } from "../schema.ts";

/** Seconds; null waits for ever. */
const limit = z.number().positive().max(604_800).nullable();

/** Deadlines of a run; docs/running.md. Servers have their own deadlines beside their addresses. */
export const deadlinesSchema = z.strictObject({
  /** One tool call, including its wait for a turn. Longer than the deadlines of the servers that tools call, whose errors are more precise. */
  toolSeconds: limit.default(300),
  /** Time without progress of a busy worker thread. One pass of a large model over a micro-batch reports no progress. */
  engineSeconds: limit.default(600),
  /** One operation on a file; a single flush may write many gigabytes. */
  diskSeconds: limit.default(600),
  /** Time before a notice says who waits for what. */
  noticeSeconds: z.number().positive().max(604_800).default(30),
});

export type Deadlines = z.output<typeof deadlinesSchema>;

/** The default deadlines. */
export const defaultDeadlines: Deadlines = deadlinesSchema.parse({});

/** Converts a recipe's seconds to milliseconds. */
export function milliseconds(limitSeconds: number | null): number | null {
  return limitSeconds === null ? null : limitSeconds * 1000;
}

import { z } from "../schema.ts";

/** Seconds; null waits for ever. */
const limit = z.number().positive().max(604_800).nullable();

/** How long a run waits for what is outside; docs/deadlines.md. Servers have deadlines of their own, beside their addresses. */
export const deadlinesSchema = z.strictObject({
  /** One call of a tool, with what it waits for its turn: longer than the servers that tools ask may take, who know better what is wrong. */
  toolSeconds: limit.default(300),
  /** Without any sign of life of a worker thread that is asked for something. One pass of a large model over a micro-batch gives none. */
  engineSeconds: limit.default(600),
  /** One operation on a file; a single flush may be of many gigabytes. */
  diskSeconds: limit.default(600),
  /** How long is waited before it is told who waits for what. */
  noticeSeconds: z.number().positive().max(604_800).default(30),
});

export type Deadlines = z.output<typeof deadlinesSchema>;

/** Where nobody says otherwise. */
export const defaultDeadlines: Deadlines = deadlinesSchema.parse({});

/** Seconds of a recipe as milliseconds. */
export function milliseconds(limitSeconds: number | null): number | null {
  return limitSeconds === null ? null : limitSeconds * 1000;
}

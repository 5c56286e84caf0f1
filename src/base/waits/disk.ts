import { ExternalError } from "../errors.ts";
import { defaultDeadlines, milliseconds } from "./deadlines.ts";
import { noteStuckThread } from "./stuck-threads.ts";
import { seconds, timeOfDay } from "./long-wait.ts";
import { waits, type Waits } from "./waits.ts";

const bounds = { deadlineMs: milliseconds(defaultDeadlines.diskSeconds) };

/** Sets this process's deadline of one file operation, in milliseconds; null: none. */
export function setDiskDeadline(deadlineMs: number | null): void {
  bounds.deadlineMs = deadlineMs;
}

/** One file operation (`doing`) with a deadline, after which its thread is abandoned. @throws {ExternalError} DISK_STALLED */
export function onDisk<T>(
  path: string,
  doing: string,
  work: () => Promise<T>,
  { deadlineMs = bounds.deadlineMs, register = waits }: DiskOptions = {},
): Promise<T> {
  let operation: Promise<T> | null = null;
  return register.waitFor(
    { owner: "disk", subject: () => `${path} (${doing})` },
    {
      deadlineMs,
      late: ({ since, waitedMs }) => {
        if (operation !== null) noteStuckThread(operation);
        const message = `${path}: the disk has not answered for ${seconds(waitedMs)}, since ${timeOfDay(since)} (${doing}). Check that the disk or network file system is mounted and not full (df, dmesg), and run again with --resume: finished work is kept. deadlines.diskSeconds sets the deadline.`;
        return new ExternalError("DISK_STALLED", message);
      },
    },
    () => (operation = work()),
  );
}

type DiskOptions = { deadlineMs?: number | null; register?: Waits };

/** Whether a disk has stopped answering, so that it must not be used again. */
export function isStalledDisk(error: unknown): boolean {
  return error instanceof ExternalError && error.code === "DISK_STALLED";
}

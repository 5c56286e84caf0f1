import { ExternalError } from "../errors.ts";
import { defaultDeadlines, milliseconds } from "./deadlines.ts";
import { noteStuckThread } from "./stuck-threads.ts";
import { seconds, timeOfDay } from "./long-wait.ts";
import { waits, type Waits } from "./waits.ts";

const bounds = { deadlineMs: milliseconds(defaultDeadlines.diskSeconds) };

/** Sets how long this process waits for one operation on a file, in milliseconds; null: for ever. */
export function setDiskDeadline(deadlineMs: number | null): void {
  bounds.deadlineMs = deadlineMs;
}

/**
 * One operation on a file, which a disk or a network file system may never answer. The system does not take an operation back, so past
 * the deadline the thread that does it is left alone.
 *
 * @param doing what is done, as in "write" or "flush".
 * @throws {ExternalError} DISK_STALLED past the deadline.
 */
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
        return new ExternalError(
          "DISK_STALLED",
          `${path}: the disk has not answered for ${seconds(waitedMs)}, since ${timeOfDay(since)} (${doing}). Look whether the disk or network file system is there and not full (df, dmesg), and start again with --resume: what was finished before is kept. deadlines.diskSeconds says how long is waited.`,
        );
      },
    },
    () => (operation = work()),
  );
}

interface DiskOptions {
  deadlineMs?: number | null;
  register?: Waits;
}

/** Whether an error says that a disk does not answer: nothing more is then to be asked of it. */
export function isStalledDisk(error: unknown): boolean {
  return error instanceof ExternalError && error.code === "DISK_STALLED";
}

import { randomUUID } from "node:crypto";
import { hostname } from "node:os";

/** Tells this process from one that had its number before. */
const INSTANCE = randomUUID().slice(0, 8);

/** Names this process among those that may write the same folders: `host.pid-instance`. */
export function processMark(): string {
  return `${hostname()}.${process.pid}-${INSTANCE}`;
}

/** Whether the process of a mark may still run. Those of other machines are taken to. */
export function isAlive(mark: string): boolean {
  const [, host, pid, instance] = /^(.*)\.(\d+)-([0-9a-f]{8})/.exec(mark) ?? [];
  if (host !== hostname() || pid === undefined) return true;
  if (Number(pid) === process.pid) return instance === INSTANCE;
  try {
    process.kill(Number(pid), 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== "ESRCH";
  }
}

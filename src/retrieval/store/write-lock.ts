import { randomUUID } from "node:crypto";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { ExternalError } from "../../base/errors.ts";

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

/**
 * Runs `work` as the only writer of an index folder. Readers need no lock. A lock whose process is gone is taken over.
 * @throws {ExternalError} INDEX_BUSY when another process is writing.
 */
export async function withWriteLock<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const path = join(folder, "write.lock");
  take(path, folder);
  try {
    return await work();
  } finally {
    rmSync(path, { force: true });
  }
}

function take(path: string, folder: string): void {
  for (let attempt = 0; ; attempt++) {
    try {
      writeFileSync(path, processMark(), { flag: "wx" });
      return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
      const holder = readHolder(path);
      // An empty file is a lock whose process died before it wrote its name, or is about to: it gets one more look.
      if (attempt < 2 && (holder === "" || !isAlive(holder))) {
        rmSync(path, { force: true });
        continue;
      }
      throw new ExternalError(
        "INDEX_BUSY",
        `${folder}: process ${holder} is changing this index (${path}). Wait until it is done; if it is not running any more, remove that file.`,
        { cause: error },
      );
    }
  }
}

function readHolder(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

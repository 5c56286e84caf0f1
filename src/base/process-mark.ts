import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** Tells this process from one that had its number before. */
const INSTANCE = randomUUID().slice(0, 8);

/** Names this process among those that may write the same folders: `host.pid-instance`. */
export function processMark(): string {
  return `${hostname()}.${process.pid}-${INSTANCE}`;
}

/** The process of a mark as people are told of it: "process 4711 on HOST". */
export function processOf(mark: string): string {
  const [, host = "this machine", pid = mark] = /^(.*)\.(\d+)-[0-9a-f]{8}$/.exec(mark) ?? [];
  return `process ${pid} on ${host}`;
}

/**
 * Whether the process of a mark may still run. Those of other machines are taken to.
 * @param started what `processStart` said of it, where that was kept: a process of its number with another start is another one.
 */
export function isAlive(mark: string, started = ""): boolean {
  const [, host, pid, instance] = /^(.*)\.(\d+)-([0-9a-f]{8})/.exec(mark) ?? [];
  if (host !== hostname() || pid === undefined) return true;
  if (Number(pid) === process.pid) return instance === INSTANCE;
  try {
    process.kill(Number(pid), 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return false;
  }
  const now = processStart(Number(pid));
  return started === "" || now === "" || now === started;
}

/** When a process of this machine was started, in words of the system's own: equal for one process alone. "" where it does not say. */
export function processStart(pid: number): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    // Field 22, ticks since the machine started; the name in field 2 may hold blanks and brackets.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return ticks === undefined ? "" : `${boot} ${ticks}`;
  } catch {
    return "";
  }
}

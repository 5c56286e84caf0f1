import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { hostname } from "node:os";

/** Distinguishes this process from an earlier one with the same process id. */
const INSTANCE = randomUUID().slice(0, 8);

/** Identifies this process among the writers of a folder: `host.pid-instance`. */
export function processMark(): string {
  return `${hostname()}.${process.pid}-${INSTANCE}`;
}

/** A mark in words: "process 4711 on HOST". */
export function processOf(mark: string): string {
  const [, host = "this machine", pid = mark] = /^(.*)\.(\d+)-[0-9a-f]{8}$/.exec(mark) ?? [];
  return `process ${pid} on ${host}`;
}

/** Whether the process of a mark may still run; other machines' count as alive. @param started tells a process that reuses the id. */
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

/** An opaque text for the start time of a local process; "" when the system does not report it. */
export function processStart(pid: number): string {
  try {
    const boot = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
    // Field 22: start time in ticks since boot. The name in field 2 may contain blanks and brackets.
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const ticks = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
    return ticks === undefined ? "" : `${boot} ${ticks}`;
  } catch {
    return "";
  }
}

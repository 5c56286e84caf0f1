/**
 * A lock for writers of a folder: a subfolder `<name>/` with one file, named after the process. Renaming a folder onto a non-empty
 * folder fails, so taking the lock is atomic. A dead holder's file is removed by its name, so that two processes that take over
 * one lock cannot remove each other's file.
 */
import { randomUUID } from "node:crypto";
import {
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { access } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";

/** The process that holds a lock, and the lock's path. */
export interface LockHolder {
  /** The mark from `processMark`; "another" where it could not be read. */
  mark: string;
  /** The user must remove this path when the holder's machine is gone. */
  path: string;
}

/** A lock held by this process. */
export type FolderLock = { isThere(): Promise<boolean>; release(): void };

/** Takes the lock `name` of an existing folder, also from a dead process. @throws the error that `busy` makes for a living holder. */
export function lockFolder(
  folder: string,
  name: string,
  busy: (holder: LockHolder) => Error,
): FolderLock {
  const path = join(folder, name);
  removeAbandoned(folder, name);
  const own = `${path}.${processMark()}`;
  try {
    mkdirSync(own);
    writeFileSync(join(own, processMark()), processStart(process.pid));
    for (let attempt = 1; !tryRename(own, path); attempt++) {
      const holders = namesIn(path);
      const living = holders.find((mark) => isAlive(mark, readStart(join(path, mark))));
      if (living !== undefined || attempt === ATTEMPTS)
        throw busy({ mark: living ?? "another", path });
      for (const holder of holders) rmSync(join(path, holder), { force: true });
      removeEmpty(path);
    }
  } catch (error) {
    rmSync(own, { recursive: true, force: true });
    throw error;
  }
  const mark = join(path, processMark());
  return {
    isThere: () =>
      access(mark).then(
        () => true,
        (error: unknown) => (error as NodeJS.ErrnoException).code !== "ENOENT",
      ),
    release: () => {
      rmSync(mark, { force: true });
      removeEmpty(path);
    },
  };
}

const ATTEMPTS = 3;

function readStart(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function removeAbandoned(folder: string, lock: string): void {
  for (const name of namesIn(folder)) {
    if (!name.startsWith(`${lock}.`) || isAlive(name.slice(lock.length + 1))) continue;
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

function tryRename(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    // The holder may have released it since.
    if (["ENOTEMPTY", "EEXIST"].includes(code)) return false;
    if (code === "EPERM" && namesIn(to).length > 0) return false;
    throw error;
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Some file systems do not rename onto an empty folder. A folder that is no longer empty belongs to another process. */
function removeEmpty(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Another process took or removed it meanwhile.
  }
}

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
function processStart(pid: number): string {
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

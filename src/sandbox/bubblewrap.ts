import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { once } from "../base/once.ts";

/** What Node itself is made of, where it exists. */
const SYSTEM = ["/usr", "/lib", "/lib64", "/bin", "/etc/ld.so.cache", "/nix/store"];

/**
 * The words that put a Node process into a sandbox of Linux namespaces: no network, no other process, and no file but Node's own and the
 * given folders, which can't be written.
 * @returns null where bubblewrap is absent or may not make namespaces.
 */
export function bubblewrap(folders: readonly string[]): string[] | null {
  return works() ? wrapped(folders) : null;
}

const works = once((): boolean => {
  if (process.platform !== "linux") return false;
  const [command = "", ...rest] = wrapped([]);
  return (
    spawnSync(command, [...rest, process.execPath, "-e", "0"], { timeout: 10_000 }).status === 0
  );
});

function wrapped(folders: readonly string[]): string[] {
  const node = dirname(dirname(process.execPath));
  const shown = [...SYSTEM, node, ...folders].map((folder) => resolve(folder)).filter(existsSync);
  return [
    ...["bwrap", "--unshare-all", "--die-with-parent", "--new-session", "--clearenv"],
    ...shown.flatMap((folder) => ["--ro-bind", folder, folder]),
    ...["--proc", "/proc", "--dev", "/dev", "--chdir", "/"],
  ];
}

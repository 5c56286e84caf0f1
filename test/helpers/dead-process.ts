import { spawnSync } from "node:child_process";
import { hostname } from "node:os";

/** The mark of a process of this machine that has ended. */
export function deadProcess(): string {
  const { pid } = spawnSync(process.execPath, ["--version"]);
  return `${hostname()}.${pid}-0123abcd`;
}

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { onTestFinished } from "vitest";

/** Whether this user may mount file systems: else tests of full and read-only disks are skipped. */
export const canMount = process.platform === "linux" && process.getuid?.() === 0;

/** A disk of its own for a test. */
export interface SmallDisk {
  /** Gives it another size, or makes it read-only; what it holds stays. */
  change(options: string): void;
}

/** Mounts a disk of a size, such as "100k", at a folder until the test is done. */
export function mountDisk(folder: string, size: string): SmallDisk {
  mkdirSync(folder);
  mount(["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", folder]);
  onTestFinished(() => {
    spawnSync("umount", ["-l", folder]);
  });
  return {
    change(options) {
      mount(["-o", `remount,${options}`, folder]);
    },
  };
}

function mount(args: readonly string[]): void {
  const { status, stderr } = spawnSync("mount", args, { encoding: "utf8" });
  if (status !== 0) throw new Error(`mount ${args.join(" ")}: ${stderr}`);
}

import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dirname, "..", "..");

/** What a run of the real binary left behind. */
export interface CliRun {
  stdout: string;
  stderr: string;
  status: number | null;
}

/**
 * Runs the built `agentrl` as a process of its own, in a pipe (no terminal, no colours).
 * @param options.cwd folder to run in.
 */
export function runCli(
  args: readonly string[],
  options: { cwd?: string; env?: Record<string, string>; input?: string } = {},
): CliRun {
  if (!existsSync(join(root, "dist", "cli", "main.js"))) {
    throw new Error("dist/ is missing: `npm run build` makes it (`npm test` does so by itself).");
  }
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    [join(root, "bin", "agentrl.js"), ...args],
    {
      cwd: options.cwd ?? root,
      env: { ...process.env, NO_COLOR: "1", ...options.env },
      input: options.input ?? "",
      encoding: "utf8",
      timeout: 60_000,
    },
  );
  return { stdout, stderr, status };
}

import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Runs a module in a Node process of its own, in the project's root; needs the build. @returns its stdout. */
export async function runNode(script: string): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [
    "--input-type=module",
    "--eval",
    script,
  ]);
  return stdout;
}

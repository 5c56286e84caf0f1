import { existsSync } from "node:fs";
import { basename, delimiter, join, relative, sep } from "node:path";

/**
 * How a shell of the user starts this program, for commands to copy: `agentrl` where the shell finds it; `node bin/agentrl.js` for a copy
 * of the sources that was started so; else `npx agentrl`, which also finds a local install.
 */
export function programCall(
  path = process.env["PATH"] ?? "",
  script = process.argv[1] ?? "",
): string {
  // npm and npx add these folders for the programs that they start; the user's shell does not have them.
  const folders = path.split(delimiter).filter((folder) => basename(folder) !== ".bin");
  const names = ["agentrl", "agentrl.cmd"];
  if (folders.some((folder) => names.some((name) => existsSync(join(folder, name)))))
    return "agentrl";
  const isSource = basename(script) === "agentrl.js" && !script.split(sep).includes("node_modules");
  return isSource ? `node ${relative(".", script)}` : "npx agentrl";
}

import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { docCommands, layDocFiles } from "../helpers/extend-doc.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

describe("the commands of docs/extend.md", () => {
  const folder = temporaryFolder();
  beforeAll(() => {
    layDocFiles(folder);
  });

  it.each(docCommands)("%s", (line) => {
    const [command = "", ...args] = line.split(" ");
    const cli = join(folder, "node_modules", "agentrl", "bin", "agentrl.js");
    const { status, stderr } = spawnSync(
      process.execPath,
      command === "agentrl" ? [cli, ...args] : args,
      { cwd: folder, encoding: "utf8" },
    );
    expect(stderr).not.toContain("error:");
    expect(status).toBe(0);
  });
});

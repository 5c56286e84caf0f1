import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { docCommands, docFiles, layDocFiles } from "../helpers/extend-doc.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

describe("the commands of docs/extend.md", () => {
  const folder = temporaryFolder();
  beforeAll(() => {
    layDocFiles(folder);
  });

  it("has recipes whose budgets fit together", () => {
    const cli = join(folder, "node_modules", "agentrl", "bin", "agentrl.js");
    for (const name of [...docFiles.keys()].filter((each) => each.endsWith(".yaml"))) {
      const plan = ["recipes", "plan", `./${name}`, "--tier", "smoke", "--no-probe"];
      const { stdout } = spawnSync(process.execPath, [cli, ...plan], {
        cwd: folder,
        encoding: "utf8",
      });
      expect(stdout, name).not.toContain("would be cut");
    }
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

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { newCommand } from "../../src/cli/commands/new.ts";
import { runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const out = temporaryFolder();
const create = (...args: string[]) => runCommand(newCommand, ["new", ...args, "--out", out]);

describe("agentrl new", () => {
  it("writes a part, its recipe and its test under the given name", async () => {
    const { stdout, status } = await create("reward", "short-answer", "--json");
    expect(status).toBe(0);
    const { files, commands } = JSON.parse(stdout) as { files: string[]; commands: string[] };
    expect(files.every((file) => existsSync(file))).toBe(true);
    expect(commands.length).toBeGreaterThan(1);
    const part = readFileSync(join(out, "short-answer.mjs"), "utf8");
    expect(part).toContain(`name: "short-answer"`);
    expect(readFileSync(join(out, "short-answer.yaml"), "utf8")).toContain("short-answer");
  });

  it("replaces no file without --overwrite", async () => {
    await create("tool", "my-tool");
    writeFileSync(join(out, "my-tool.mjs"), "mine");
    const refused = await create("tool", "my-tool");
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain("[OUTPUT_EXISTS]");
    expect(readFileSync(join(out, "my-tool.mjs"), "utf8")).toBe("mine");
    expect((await create("tool", "my-tool", "--overwrite")).status).toBe(0);
    expect(readFileSync(join(out, "my-tool.mjs"), "utf8")).not.toBe("mine");
  });

  it("refuses the name of a part that there is", async () => {
    const { status, stderr } = await create("reward", "exact-match");
    expect([status, stderr]).toEqual([2, expect.stringContaining("exact-match")]);
  });
});

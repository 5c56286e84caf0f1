import { mkdirSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { describe, expect, it } from "vitest";
import { programCall } from "../../src/cli/io.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const root = temporaryFolder();

/** A folder with the program, for PATH. */
function withProgram(...names: string[]): string {
  const folder = join(root, ...names);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "agentrl"), "");
  return folder;
}

describe("programCall", () => {
  const local = withProgram("project", "node_modules", ".bin");

  it("is the bare name where a shell finds it", () => {
    const path = [local, withProgram("usr", "bin")].join(delimiter);
    expect(programCall(path, "/usr/bin/agentrl")).toBe("agentrl");
  });

  it("is npx for a local install, whose folder only npm adds to PATH", () => {
    expect(programCall(local, join(local, "agentrl"))).toBe("npx agentrl");
    const shim = join(root, "project", "node_modules", "agentrl", "bin", "agentrl.js");
    expect(programCall(local, shim)).toBe("npx agentrl");
  });

  it("is the file where the sources were started", () => {
    expect(programCall("", join("bin", "agentrl.js"))).toBe(`node ${join("bin", "agentrl.js")}`);
  });
});

import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";

interface Loaded {
  modules: number;
  dependencies: Record<string, number>;
}

/** What a command line of the built program loads. */
function loaded(...args: string[]): Loaded {
  const script = join(import.meta.dirname, "..", "..", "scripts", "loaded-modules.mjs");
  return JSON.parse(
    execFileSync(process.execPath, [script, ...args], { encoding: "utf8" }),
  ) as Loaded;
}

describe("what is loaded at start-up", () => {
  it("is the list of commands, for the program's help", () => {
    const { modules, dependencies } = loaded("--help");
    expect(modules).toBeLessThanOrEqual(60);
    expect(Object.keys(dependencies)).toEqual(["commander"]);
  });

  it("is no other command, for one command's help", () => {
    expect(loaded("runs", "show", "--help").modules).toBeLessThanOrEqual(60);
  });

  it("is no part, for the list of recipes", () => {
    const { modules, dependencies } = loaded("recipes", "list");
    expect(modules).toBeLessThanOrEqual(60);
    expect(Object.keys(dependencies)).toEqual(["commander", "yaml", "zod"]);
  });

  it("is what a recipe names, for its settings", () => {
    const { modules, dependencies } = loaded("--settings", "search-r1");
    expect(modules).toBeLessThanOrEqual(150);
    expect(Object.keys(dependencies)).toEqual(["yaml", "zod"]);
  });
});

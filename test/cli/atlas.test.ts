import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { makeReproduceCommand } from "../../src/cli/commands/reproduce.ts";
import { runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

const command = makeReproduceCommand(() => Promise.reject(new Error("nothing may run")));
const reproduce = (...args: string[]) => runCommand(command, ["reproduce", ...args], `${folder}/`);

describe("agentrl reproduce --all", () => {
  it("writes a page and its Markdown from kept results alone, with a line for each claim", async () => {
    const page = join(folder, "atlas.html");
    const stored = ["--all", "--stored", "--page", page];
    const { stdout, status } = await reproduce(...stored, "--family", "search-agents", "--json");
    expect(status).toBe(0);
    const { systems } = JSON.parse(stdout) as { systems: { name: string; family: string }[] };
    expect(systems.map(({ name }) => name)).toContain("search-r1");
    expect(new Set(systems.map(({ family }) => family))).toEqual(new Set(["search-agents"]));
    expect(readFileSync(page, "utf8")).toContain('id="search-r1"');
    const text = readFileSync(join(folder, "atlas.md"), "utf8");
    expect(text).toContain("| search-agents | search-r1 | search-beats-no-search |");
    expect(text).toMatch(/^\| 20\d\d-\d\d-\d\d \| \S+ \| .* cores, .* \| `agentrl .*` \| 1, /m);
  });

  it.each([
    [["--all", "--stored", "--family", "search-agent"], /search-agents/],
    [["search-r1", "--all"], /--all stands beside the recipe/],
    [[], /A recipe is missing/],
  ])("refuses %j", async (args, message) => {
    const { stderr, status } = await reproduce(...args);
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
    expect(existsSync(join(folder, "runs"))).toBe(false);
  });
});

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../helpers/run-cli.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const cwd = temporaryFolder();

const run = (...args: string[]) => runCli(["recipes", ...args], { cwd });

describe("agentrl recipes", () => {
  it("lists the shipped recipes as JSON", async () => {
    const { stdout, status } = await run("list", "--json");
    expect(status).toBe(0);
    const { recipes } = JSON.parse(stdout) as { recipes: { name: string; tiers: string[] }[] };
    for (const { name, tiers } of recipes) {
      expect(name).toMatch(/^[a-z0-9-]+$/);
      expect(tiers.length).toBeGreaterThan(0);
    }
  });

  it("lists papers, instruments, lessons and bases under headings", async () => {
    const { stdout } = await run("list");
    const headings = stdout.split("\n").filter((line) => /^\S/.test(line));
    expect(headings).toEqual(["Papers", "Instruments", "Bases", "Lessons and policies"]);
    const under = (heading: string): string =>
      stdout.split("\n\n").find((section) => section.startsWith(heading)) ?? "";
    expect(under("Papers")).toContain("search-r1 ");
    expect(under("Instruments")).toContain("knobs ");
    expect(under("Bases")).toContain("timid ");
    expect(under("Lessons")).toContain("calculator ");
  });

  it("finds recipes by a paper's number, a part of a name or a word, and says where there is none", async () => {
    const namesIn = (text: string): (string | undefined)[] =>
      text.split("\n").flatMap((line) => /^ {2}(\S+)/.exec(line)?.[1] ?? []);
    expect(namesIn((await run("list", "2503.09516")).stdout)).toEqual([
      "search-r1",
      "search-r1-ppo",
    ]);
    expect(namesIn((await run("list", "STEP")).stdout)).toContain("stepsearch");
    const { recipes } = JSON.parse((await run("list", "stepsearch", "--json")).stdout) as {
      recipes: { name: string }[];
    };
    expect(recipes.map(({ name }) => name)).toEqual(["stepsearch"]);
    const { status, stderr } = await run("list", "no such thing");
    expect([status, stderr]).toEqual([2, expect.stringContaining("[RECIPE_MISSING]")]);
  });

  it("finds no problem in shipped recipes", async () => {
    // All of them: test/run/checks/check-budgets.test.ts.
    const { stdout, stderr, status } = await run("check", "search-r1", "start");
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    expect(stdout).toBe("2 recipes checked, no problem.\n");
  });

  it("checks every file that is named and reports all problems with their places", async () => {
    writeFileSync(join(cwd, "a.yaml"), "summary: x\nbase: {}\nteirs: {}\n");
    writeFileSync(join(cwd, "b.yaml"), "summary: x\nbase: { seed: -1 }\ntiers: { mini: {} }\n");
    const { stdout, stderr, status } = await run("check", "./a.yaml", "./b.yaml");
    expect({ stdout, status }).toEqual({ stdout: "", status: 2 });
    expect(stderr.split("\n")).toEqual([
      expect.stringMatching(
        /^error: \.\/a\.yaml:3: teirs is not a key here\. Did you mean "tiers"\?/,
      ),
      "./b.yaml:2: seed is -1: expected at least 0. [RECIPE_UNKNOWN_KEY]",
      "",
    ]);
  });

  it("checks a claim at tier paper by the metric that it has there", async () => {
    const text = (metrics: string): string => `summary: x
base: { algorithm: { name: grpo, steps: 1 } }
tiers:
  mini: { evaluation: { sets: { far: { dataset: { name: tinyworld, split: test } } } } }
  paper: {}
claims:
  tests:
    - { id: a, statement: x, source: x, relation: one > 0.5, arms: [{ name: one }], ${metrics} }
`;
    writeFileSync(join(cwd, "d.yaml"), text("metric: eval.sets.far.after.em"));
    expect((await run("check", "./d.yaml")).stderr).toContain("d.yaml:8: claims.tests.0.metric is");
    const own = "metric: eval.sets.far.after.em, paperMetric: eval.after.em";
    writeFileSync(join(cwd, "d.yaml"), text(own));
    expect(await run("check", "./d.yaml")).toMatchObject({ stderr: "", status: 0 });
  });

  it("shows that --set wins over the tier and the tier over the base", async () => {
    const text = "summary: x\nbase: { seed: 1 }\ntiers: { smoke: {}, mini: { seed: 2 } }\n";
    writeFileSync(join(cwd, "c.yaml"), text);
    const origin = async (...args: string[]): Promise<unknown> => {
      const { stdout } = await run("show", "./c.yaml", "--json", ...args);
      const shown = JSON.parse(stdout) as { settings: { seed: number }; origins: { seed: string } };
      return [shown.settings.seed, shown.origins.seed];
    };
    expect(await origin("--tier", "smoke")).toEqual([1, "./c.yaml:2"]);
    expect(await origin()).toEqual([2, "./c.yaml:3 (tier mini)"]);
    expect(await origin("--set", "seed=3")).toEqual([3, "--set"]);
  });
});

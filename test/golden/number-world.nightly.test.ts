import { spawnSync } from "node:child_process";
import { expect, it } from "vitest";
import { numberWorld } from "../../src/worlds/numbers/number-world.ts";

const python = spawnSync("python3", ["--version"]).status === 0 ? it : it.skip;

const PROBLEMS = 10_000;

python("has the answers that Python's fractions give, over 10 000 problems (needs python3)", () => {
  const world = numberWorld({ seed: 1 });
  const lines = Array.from({ length: PROBLEMS }, (_, i) => JSON.stringify(world.problem(i)));
  const { stdout, stderr } = spawnSync("python3", ["test/golden/number-world.py"], {
    input: lines.join("\n"),
    encoding: "utf8",
  });
  expect(stderr).toBe("");
  const report = JSON.parse(stdout) as { problems: number; steps: number; wrong: string[] };
  expect(report).toMatchObject({ problems: PROBLEMS, wrong: [] });
  expect(report.steps).toBeGreaterThan(40_000);
});

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readJson } from "../src/base/files.ts";
import { spawnCli } from "./helpers/run-cli.ts";
import { temporaryFolder } from "./helpers/temporary-folder.ts";

/** Each example of a paper's system, the measurement of its own, and a claim that names it. */
const SYSTEMS = [
  ["r-search", "evidence", "evidence-answers"],
  ["rag-gym", "critic-agreement", "critic-agrees"],
  ["treerpo", "written-steps", "tree-writes-less"],
] as const;

const out = temporaryFolder();

describe.each(SYSTEMS)("examples/%s", (system, measure, claim) => {
  const recipe = join("examples", system, `${system}.yaml`);

  it("is one recipe and one file, which check and train in the smoke tier", () => {
    expect(readdirSync(join("examples", system)).sort()).toEqual(["parts.mjs", `${system}.yaml`]);
    const checked = spawnCli(["recipes", "check", recipe]);
    expect([checked.status, checked.stderr]).toEqual([0, expect.any(String)]);
    const run = ["train", "--recipe", recipe, "--tier", "smoke", "--out", join(out, system)];
    const trained = spawnCli([...run, "--json"]);
    expect([trained.status, trained.stderr]).toEqual([0, expect.any(String)]);
    const { eval: evaluated } = JSON.parse(trained.stdout) as { eval: Record<string, object> };
    for (const when of ["before", "after"])
      expect(evaluated[when]).toHaveProperty(measure, expect.any(Number));
  });

  it("claims its own measurement", async () => {
    const folder = join(out, `${system}-claims`);
    const run = ["reproduce", recipe, "--tier", "smoke", "--seeds", "1", "--out", folder];
    expect(spawnCli(run)).toMatchObject({ status: 0 });
    const results = (await readJson(join(folder, "results.json"))) as {
      claims: { id: string; metric: string; arms: { mean: unknown }[] }[];
    };
    const found = results.claims.find(({ id }) => id === claim);
    expect(found?.metric).toBe(`eval.after.${measure}`);
    for (const { mean } of found?.arms ?? []) expect(mean).toEqual(expect.any(Number));
  });
});

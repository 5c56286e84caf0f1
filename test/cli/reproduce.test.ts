import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { makeReproduceCommand } from "../../src/cli/commands/reproduce.ts";
import { runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

const RECIPE = `
summary: one claim
base: {}
tiers: { mini: {} }
paperTables:
  - { id: table-2, metric: em, model: M, columns: [average], rows: { RL: [0.431], RAG: [0.304] } }
claims:
  tests:
    - id: search-wins
      statement: Search beats none.
      metric: eval.after.em
      relation: search > none
      source: Table 2
      arms:
        - { name: search, paperCell: { table: table-2, row: RL, column: average } }
        - { name: none, set: { evaluation.strategy: direct } }
`;

/** Searching finds .77, .78, .79 by seed; not searching nothing. */
const command = makeReproduceCommand(({ settings, seed }) => {
  const em = settings.settings.evaluation.strategy.name === "direct" ? 0 : (76 + seed) / 100;
  return Promise.resolve({ eval: { after: { em } } });
});

const reproduce = (...args: string[]) =>
  runCommand(
    command,
    ["reproduce", join(folder, "small.yaml"), "--arms", join(folder, "arms"), ...args],
    `${folder}/`,
  );

beforeAll(() => {
  writeFileSync(join(folder, "small.yaml"), RECIPE);
});

describe("agentrl reproduce", () => {
  it("prints ours beside the paper's numbers, with a verdict", async () => {
    const { stdout, stderr, status } = await reproduce("--out", join(folder, "out"));
    expect(status).toBe(0);
    expect(stdout).toMatch(/^ +search-wins +SUPPORTED/m);
    expect(stdout).toContain("dataset average, here tinyworld; model M, here base");
    expect(stdout).toMatch(/search +0\.780 +0\.755 … 0\.805 +0\.431 +table-2, RL, average, M$/m);
    expect(stdout).toMatch(/none +0\.000 +–$/m);
    expect(stdout).toMatch(
      /search > none +\+0\.780 +\+0\.699 … \+0\.861 +<\.0001 +0\.087 +supported$/m,
    );
    expect(stdout).toContain("after Holm's correction over the recipe's claims");
    expect(stderr.split("\n").slice(0, 2)).toEqual([
      "run 1/6: search-wins/search, seed 1",
      "run 2/6: search-wins/none, seed 1",
    ]);
  });

  it("prints one JSON document under --json, taking over what is there", async () => {
    const { stdout, stderr } = await reproduce("--out", join(folder, "out"), "--json");
    const result = JSON.parse(stdout) as object;
    expect(result).toMatchObject({
      recipe: "small",
      tier: "mini",
      claims: [
        {
          id: "search-wins",
          verdict: "supported",
          arms: [
            { name: "search", values: [0.77, 0.78, 0.79] },
            { name: "none", ci95: null },
          ],
        },
      ],
    });
    expect(stderr).toContain("run 6/6: search-wins/none, seed 3 (done before)");
    const written = JSON.parse(readFileSync(join(folder, "out", "results.json"), "utf8")) as object;
    const { format, procedure, samples, ...data } = written as Record<string, unknown>;
    expect({ format, procedure, samples }).toEqual({ format: 2, procedure: 2, samples: [] });
    expect(Object.keys(result).sort()).toEqual([...Object.keys(data), "out"].sort());
  });

  it("shows the kept results of a recipe with --stored, and runs nothing", async () => {
    const absent = await reproduce("--stored");
    expect(absent.status).toBe(3);
    expect(absent.stderr).toContain("no kept results");
    const { stdout } = await reproduce("--out", join(folder, "out"), "--keep");
    const stored = await reproduce("--stored");
    expect(stored).toEqual({ status: 0, stdout, stderr: "" });
    expect((await reproduce("--stored", "--tier", "paper")).status).toBe(3);
    expect((await reproduce("--stored", "--seeds", "2")).stderr).toContain("--seeds would have no effect"); // prettier-ignore
  });

  it("lists kept results of other code with --stale, and makes one arm again with --spot", async () => {
    await reproduce("--out", join(folder, "out"), "--keep");
    const kept = join(folder, "results", "small.json");
    const stale = async (): Promise<unknown> =>
      (JSON.parse((await reproduce("--stale", "--json")).stdout) as { recipes: unknown[] }).recipes;
    expect(await stale()).toMatchObject([{ runs: 6, stale: 0, procedure: 2 }]);
    const spot = await reproduce("--spot", "--json", "--out", join(folder, "spot"));
    expect(JSON.parse(spot.stdout)).toMatchObject({
      spots: [{ arm: "search-wins/search", seed: 1, kept: 0.77, again: 0.77, isWithin: true }],
    });
    const text = readFileSync(kept, "utf8");
    writeFileSync(kept, text.replaceAll(/"code": ?"[0-9a-f]+"/g, '"code":"000000000000"'));
    expect(await stale()).toMatchObject([{ runs: 6, stale: 6 }]);
  });

  it("says that one seed says nothing", async () => {
    const { stdout } = await reproduce("--out", join(folder, "one"), "--seeds", "1");
    expect(stdout).toMatch(/search-wins +UNDECIDED/);
    expect(stdout).toContain("one seed says nothing about other seeds");
  });
});

import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parseRecipe } from "../../src/recipe/settings/recipe-file.ts";
import { type ArmRun, reproduce, type ReproduceOptions } from "../../src/recipe/reproduce.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

const recipe = parseRecipe(
  `
summary: two claims
base: { sampling: { temperature: 1 } }
tiers: { mini: {} }
paperTables:
  - { id: t1, metric: em, columns: [avg], rows: { Hot: [0.4], Cold: [0.3] } }
claims:
  - id: hot-wins
    statement: Hot beats cold.
    metric: eval.em
    relation: hot > cold
    source: Table 1
    arms:
      - { name: hot, paperCell: { table: t1, row: Hot, column: avg } }
      - { name: cold, set: { sampling.temperature: 0 }, paperCell: { table: t1, row: Cold, column: avg } }
  - id: bounds
    statement: Plain stays between.
    metric: eval.em
    relation: 0.9 > plain >= 0.5
    source: section 2
    arms: [{ name: plain }]
`,
  "two.yaml",
);

const isCold = ({ settings }: ArmRun): boolean => settings.settings.sampling.temperature === 0;

/** Hot: .6, .7, .8 by seed; cold: .5 less. */
const outcome = (each: ArmRun): Promise<unknown> => {
  const em = each.seed / 10 + (isCold(each) ? 0 : 0.5);
  return Promise.resolve({ steps: 4, eval: { em } });
};

const run = (name: string, more: Partial<ReproduceOptions> = {}) =>
  reproduce(recipe, {
    ...{ tier: "mini", seeds: [1, 2, 3], version: "1", out: join(folder, name) },
    ...{ signal: new AbortController().signal, run: outcome, ...more },
  });

describe("reproduce", () => {
  it("gives each arm's mean, interval and paper cell, and a verdict per claim", async () => {
    const { claims } = await run("whole");
    const [first, second] = claims;
    expect(first).toMatchObject({
      id: "hot-wins",
      verdict: "supported",
      comparisons: [{ left: "hot", relation: ">", right: "cold", method: "paired-t" }],
      arms: [
        { name: "hot", seeds: [1, 2, 3], paper: { value: 0.4, system: "Hot" } },
        { name: "cold", paper: { value: 0.3 } },
      ],
    });
    const [hot] = first!.arms;
    expect(hot!.mean).toBeCloseTo(0.7, 12);
    // Deviation .1, t(2) = 4.3027: ± 4.3027 · .1 / √3.
    expect(hot!.ci95![0]).toBeCloseTo(0.7 - 0.24841, 5);
    expect(first!.comparisons[0]!.difference).toBeCloseTo(0.5, 12);
    // .9 − .7 = .2 within ± .248, and .7 − .5 likewise: three seeds cannot tell.
    expect(second!.comparisons.map(({ verdict }) => verdict)).toEqual([
      "inconclusive",
      "inconclusive",
    ]);
    expect(second!.comparisons[0]!.difference).toBeCloseTo(0.2, 12);
    expect(second).toMatchObject({ verdict: "inconclusive", arms: [{ paper: null }] });
  });

  it("runs arms of equal settings once, seed by seed", async () => {
    const done: string[] = [];
    await run("shared", {
      run: (each) => {
        done.push(`${each.seed}: ${each.arms.join(" ")}`);
        return outcome(each);
      },
    });
    expect(done).toEqual([
      "1: hot-wins/hot bounds/plain",
      "1: hot-wins/cold",
      "2: hot-wins/hot bounds/plain",
      "2: hot-wins/cold",
      "3: hot-wins/hot bounds/plain",
      "3: hot-wins/cold",
    ]);
  });

  it("refutes a claim whose arms come out the other way round", async () => {
    const worse = (each: ArmRun) =>
      Promise.resolve({ eval: { em: each.seed / 10 + (isCold(each) ? 1 : 0) } });
    expect((await run("worse", { run: worse })).claims[0]!.verdict).toBe("not supported");
  });

  it("goes on where it was interrupted, and ends with the same results", async () => {
    const whole = await run("straight");
    const broken = run("interrupted", {
      run: (each) => (each.seed < 3 ? outcome(each) : Promise.reject(new Error("stop"))),
    });
    await expect(broken).rejects.toThrow("stop");
    appendFileSync(join(folder, "interrupted", "runs.jsonl"), '{"key":"half');
    const done: number[] = [];
    const kept: boolean[] = [];
    const resumed = await run("interrupted", {
      run: (each) => {
        done.push(each.seed);
        return outcome(each);
      },
      onArm: (arm) => kept.push(arm.kept),
    });
    expect(done).toEqual([3, 3]);
    expect(kept).toEqual([true, true, true, true, false, false]);
    expect(resumed).toEqual(whole);
    const read = (name: string, file: string) => readFileSync(join(folder, name, file), "utf8");
    for (const file of ["runs.jsonl", "results.json"]) {
      expect(read("interrupted", file)).toBe(read("straight", file));
    }
  });

  it("runs again what other settings or another version gave", async () => {
    await run("again", { seeds: [1] });
    const done: number[] = [];
    const count = (each: ArmRun) => {
      done.push(each.seed);
      return outcome(each);
    };
    await run("again", { seeds: [1], run: count });
    expect(done).toEqual([]);
    await run("again", { seeds: [1], run: count, version: "2" });
    const overrides = [{ key: "checkpoints.every", value: 7, origin: "--set" }];
    await run("again", { seeds: [1], run: count, overrides });
    expect(done).toEqual([1, 1, 1, 1]);
  });

  it("says nothing about one seed", async () => {
    const { claims } = await run("one", { seeds: [1] });
    expect(claims[0]).toMatchObject({ verdict: "inconclusive", arms: [{ ci95: null }, {}] });
  });

  it("names a metric that no run reports at the first run, and a recipe without claims", async () => {
    const missing = run("metric", { run: () => Promise.resolve({ eval: { f1: 1 } }) });
    await expect(missing).rejects.toThrow(
      /two\.yaml:10: claims\.0\.metric is "eval\.em", which is no number of a run's results\. .*Known: eval\.f1\./,
    );
    const empty = parseRecipe("summary: x\nbase: {}\ntiers: { mini: {} }\n", "empty.yaml");
    const options = { tier: "mini" as const, seeds: [1], version: "1", out: join(folder, "empty") };
    const { signal } = new AbortController();
    await expect(reproduce(empty, { ...options, signal, run: outcome })).rejects.toThrow(
      /empty\.yaml: has no claims/,
    );
  });
});

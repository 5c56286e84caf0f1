import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { fixedSeeds } from "../../src/experiment/claims/looks.ts";
import { parseRecipe } from "../../src/run/settings/recipe-file.ts";
import type { ArmRun } from "../../src/experiment/arms/arm-runs.ts";
import type { KeptResults } from "../../src/experiment/claims/kept-results.ts";
import { reproduce, type ReproduceOptions } from "../../src/experiment/reproduce.ts";
import { spotCheck } from "../../src/experiment/spot-check.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { TWO_CLAIMS } from "../helpers/two-claims.ts";

const folder = temporaryFolder();

const made = (version: string) => ({
  version,
  date: "2026-01-02",
  command: "agentrl reproduce two",
});

const recipe = parseRecipe(TWO_CLAIMS, "two.yaml");

const isCold = ({ settings }: ArmRun): boolean => settings.settings.sampling.temperature === 0;

/** Hot: .6, .7, .8 by seed; cold: .5 less. */
const outcome = (each: ArmRun): Promise<unknown> => {
  const em = each.seed / 10 + (isCold(each) ? 0 : 0.5);
  return Promise.resolve({ steps: 4, eval: { after: { em } } });
};

/** 20 questions with their mean as the run's EM; without a seed's own share they differ from seed to seed. */
const questionsOf: ReproduceOptions["questionsOf"] = async (each) => {
  const { eval: found } = (await outcome(each)) as { eval: { after: { em: number } } };
  const right = Math.round(20 * found.after.em);
  const values = new Map(Array.from({ length: 20 }, (_, i) => [`q${i}`, Number(i < right)]));
  return { values, outcome: `${right}` };
};

const run = (name: string, more: Partial<ReproduceOptions> = {}) =>
  reproduce(recipe, {
    tier: "mini",
    plan: fixedSeeds([1, 2, 3]),
    made: made("1"),
    out: join(folder, name),
    store: null,
    sideBySide: 1,
    signal: new AbortController().signal,
    run: outcome,
    questionsOf,
    ...more,
  });

describe("kept results", () => {
  it("takes runs from kept results, and judges them as if it had made them", async () => {
    const whole = await run("to-keep");
    const kept = JSON.parse(
      JSON.stringify({ ...whole, format: 2, procedure: 2, samples: [] }),
    ) as KeptResults;
    const found: (string | null)[] = [];
    const again = await run("from-kept", { kept, onArm: (arm) => found.push(arm.found) });
    expect(found).toEqual(Array.from({ length: 6 }, () => "results"));
    expect(again).toEqual(whole);
    // Another version's numbers are not taken.
    found.length = 0;
    await run("other", { kept, made: made("2"), onArm: (arm) => found.push(arm.found) });
    expect(found.every((each) => each === null)).toBe(true);
  });

  it("makes one arm again and says whether its numbers are within the noise of seeds", async () => {
    const whole = await run("spotted");
    const kept: KeptResults = { ...whole, format: 2, procedure: 2, samples: [] } as never;
    const spot = (name: string, shift: number) =>
      spotCheck(recipe, kept, {
        out: join(folder, name),
        version: "1",
        overrides: [],
        signal: new AbortController().signal,
        questionsOf,
        run: async (each) => {
          const { eval: is } = (await outcome(each)) as { eval: { after: { em: number } } };
          return { steps: 4, eval: { after: { em: is.after.em + shift } } };
        },
      });
    const [same] = await spot("spot", 0);
    expect(same).toMatchObject({
      ...{ recipe: "two", arm: "hot-wins/hot", seed: 1, metric: "eval.after.em" },
      ...{ kept: 0.6, again: 0.6, sameAnswers: true, isWithin: true },
    });
    // Seeds of .6, .7, .8 and a prior of 4 degrees at .025 / √2: 2 √(2 · (2 · .01 + 4 · .0003125) / 6).
    expect(same?.noise).toBeCloseTo(2 * Math.sqrt((2 * (0.02 + 0.00125)) / 6), 10);
    expect((await spot("spot-far", 0.2))[0]).toMatchObject({ isWithin: false });
    expect((await spot("spot-near", 0.1))[0]).toMatchObject({ isWithin: true });
  });
});

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { effectOf } from "../../../src/run/settings/settings-schema.ts";
import { armsOf } from "../../../src/view/runs/arms.ts";
import { heldOutComparison } from "../../../src/view/runs/held-out-comparison.ts";
import { lastFigures, lastStepsText } from "../../../src/view/runs/last-steps.ts";
import { readRun } from "../../../src/view/runs/run-files.ts";
import { partsOf } from "../../../src/view/runs/run-parts.ts";
import { type MadeRun, writeRun } from "../../helpers/run-folder.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const folder = temporaryFolder();
const arms = async (name: string, ...runs: MadeRun[]) => {
  const read = runs.map((run, i) => readRun(writeRun(join(folder, `${name}${i}`), run)));
  return armsOf(await Promise.all(read), effectOf).arms;
};

describe("heldOutComparison", () => {
  it("pairs by question: after with before, and every arm with the first", async () => {
    const before = [0, 0, 0, 0, 1, 0, 0, 0];
    const [em] = await heldOutComparison(
      await arms(
        "pair",
        { klCoef: 0, before, after: [1, 1, 1, 1, 1, 1, 1, 1] },
        { klCoef: 1, before, after: [1, 1, 1, 1, 1, 1, 0, 0] },
      ),
    );
    const [first, second] = em?.figures ?? [];
    expect(em?.metric).toBe("em");
    expect([first?.before, first?.after, second?.after]).toEqual([0.125, 1, 0.75]);
    // All seven that changed went up: 2 of 2^7 flips are as far out.
    expect(first?.change).toMatchObject({ difference: 0.875, n: 8, verdict: "higher" });
    expect(first?.against).toBeNull();
    expect(second?.against).toMatchObject({ difference: -0.25, verdict: "no difference shown" });
  });

  it("says why where protocols differ instead of comparing", async () => {
    const both = await arms(
      "unlike",
      { klCoef: 0, before: [0, 1], after: [1, 1] },
      { klCoef: 1, before: [0, 1], after: [1, 1], fingerprint: "bbbbbbbbbbbb" },
    );
    const [em] = await heldOutComparison(both);
    expect(em?.figures[1]?.against).toContain("has another protocol than the run");
    // An option of eval compare, not of this page.
    expect(em?.figures[1]?.against).not.toContain("--across");
    expect(em?.figures[1]?.change).toMatchObject({ difference: 0.5 });
  });

  it("compares evaluation sets apart from the run's own evaluation", async () => {
    const rows = (values: readonly number[]): string =>
      values.map((em, i) => `${JSON.stringify({ id: `q${i}`, sample: 0, em })}\n`).join("");
    const summary = (em: number): string => JSON.stringify({ n: 2, metrics: { em } });
    const files = {
      "eval/far/before.json": summary(0),
      "eval/far/before.rows.jsonl": rows([0, 0]),
      "eval/far/after.json": summary(0.5),
      "eval/far/after.rows.jsonl": rows([0, 1]),
    };
    const [arm] = await arms("sets", { before: [0, 1], after: [1, 1], files });
    const found = await heldOutComparison(arm === undefined ? [] : [arm], "far");
    expect(found[0]?.figures[0]).toMatchObject({
      before: 0,
      after: 0.5,
      change: { difference: 0.5, n: 2 },
    });
    const names = (evaluations: readonly { name: string }[] = []) => evaluations.map((e) => e.name);
    expect(names(arm?.runs[0]?.evaluations)).toEqual(["before", "after"]);
    expect(names(arm?.runs[0]?.sets)).toEqual(["far/before", "far/after"]);
  });

  it("leaves out what was not measured", async () => {
    expect(await heldOutComparison(await arms("none", { rewards: [1] }))).toEqual([]);
  });
});

describe("lastFigures", () => {
  it("takes each run's mean over its last ten steps and compares arms seed by seed", async () => {
    const late = (level: number): number[] => [0, 0, ...Array.from({ length: 10 }, () => level)];
    const both = await arms(
      "last",
      { klCoef: 0, seed: 1, rewards: late(2) },
      { klCoef: 0, seed: 2, rewards: late(2) },
      { klCoef: 1, seed: 1, rewards: late(3) },
      { klCoef: 1, seed: 2, rewards: late(5) },
    );
    const [part] = await partsOf(both);
    const [reward] = part === undefined ? [] : lastFigures(part);
    expect(reward?.spec.title).toBe("Reward");
    expect(reward?.arms.map(({ summary }) => summary?.mean)).toEqual([2, 4]);
    // Differences 1 and 3: 2 ± 12.706 · √2 / √2.
    expect(reward?.arms[1]?.against).toMatchObject({ difference: 2, method: "paired-t" });
    expect(reward?.arms[1]?.against?.ci95?.[0]).toBeCloseTo(2 - 12.7062, 3);
    expect(lastStepsText(lastFigures(part!))).toBe("last 10 steps");
  });

  it("says how many steps a short run's mean is over", async () => {
    const [part] = await partsOf(await arms("short", { rewards: [1, 2] }));
    expect(lastStepsText(lastFigures(part!))).toBe("2 steps");
  });

  it("finds exact match under the name that the recipe gives it", async () => {
    const settings = { rewards: [{ name: "token-f1" }, { name: "exact-match", as: "em" }] };
    const more = { "reward/em": 0.25 };
    const [part] = await partsOf(await arms("alias", { rewards: [1, 2], settings, more }));
    const em = lastFigures(part!).find(({ spec }) => spec.title === "EM");
    expect(em?.arms[0]?.summary?.mean).toBe(0.25);
  });
});

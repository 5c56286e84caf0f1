import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { armsOf } from "../../../src/report/runs/arms.ts";
import { readRun } from "../../../src/report/runs/run-files.ts";
import { type MadeRun, writeRun } from "../../helpers/run-folder.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const made = (name: string, run: MadeRun) => readRun(writeRun(join(folder, name), run));

describe("armsOf", () => {
  it("puts runs that differ in nothing but seed and folder into one arm, named by what differs", async () => {
    const runs = [
      await made("a1", { seed: 1, klCoef: 0 }),
      await made("b1", { seed: 1, klCoef: 0.1 }),
      await made("a2", { seed: 2, klCoef: 0 }),
    ];
    const { arms, differences } = armsOf(runs);
    expect(arms.map(({ name, runs: own }) => [name, own.length])).toEqual([
      ["klCoef 0", 2],
      ["klCoef 0.1", 1],
    ]);
    expect(differences).toEqual([{ key: "algorithm.klCoef", values: ["0", "0.1"] }]);
  });

  it("names arms by their first folders where many settings differ", async () => {
    const runs = [
      await made("first", { klCoef: 0, steps: 5 }),
      await made("second", { klCoef: 1, steps: 6, recipe: "other" }),
    ];
    const { arms, differences } = armsOf(runs);
    expect(arms.map(({ name }) => name)).toEqual(["first", "second"]);
    expect(differences.map(({ key }) => key)).toEqual([
      ...["recipe", "algorithm.steps", "algorithm.klCoef"],
    ]);
  });

  it("keeps runs on other data apart, though no setting differs", async () => {
    const hashes = { policy: "ab12", dataset: "changed", evaluationDataset: "made-2" };
    const manifest = { agentrl: "0.1.0", recipe: "search-r1", tier: "smoke", hashes };
    const runs = [
      await made("c", {}),
      await made("d", { files: { "manifest.json": JSON.stringify(manifest) } }),
    ];
    const { differences } = armsOf(runs);
    expect(differences.map(({ key }) => key)).toEqual(["machine.device", "hashes.dataset"]);
  });

  it("leaves the run's own folder out of paths to its earlier stages", async () => {
    const stage = (name: string) =>
      made(name, {
        files: {
          "recipe.resolved.yaml": `base:\n  seed: 1\n  policy:\n    from: ${join(folder, name)}/stages/1-sft/policy\n`,
        },
      });
    expect(armsOf([await stage("e"), await stage("f")]).arms).toHaveLength(1);
  });
});

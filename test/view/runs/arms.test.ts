import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { effectOf } from "../../../src/run/settings/settings-schema.ts";
import { armsOf } from "../../../src/view/runs/arms.ts";
import { readRun } from "../../../src/view/runs/run-files.ts";
import { type MadeRun, writeRun } from "../../helpers/run-folder.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const folder = temporaryFolder();
const made = (name: string, run: MadeRun) => readRun(writeRun(join(folder, name), run));

describe("armsOf", () => {
  it("puts runs that differ in nothing but seed and folder into one arm, named by what differs", async () => {
    const runs = [
      await made("a1", { seed: 1, klCoef: 0 }),
      await made("b1", { seed: 1, klCoef: 0.1 }),
      await made("a2", { seed: 2, klCoef: 0 }),
    ];
    const { arms, differences } = armsOf(runs, effectOf);
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
    const { arms, differences } = armsOf(runs, effectOf);
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
    const { differences } = armsOf(runs, effectOf);
    expect(differences.map(({ key }) => key)).toEqual(["machine.device", "hashes.dataset"]);
  });

  it("leaves the run's own folder out of paths to its earlier stages", async () => {
    const stage = (name: string) =>
      made(name, {
        files: {
          "recipe.resolved.yaml": `base:\n  seed: 1\n  policy:\n    from: ${join(folder, name)}/stages/1-sft/policy\n`,
        },
      });
    expect(armsOf([await stage("e"), await stage("f")], effectOf).arms).toHaveLength(1);
  });

  it("leaves aside how a run is kept, watched, told of and divided, and says it by run", async () => {
    const runs = [
      await made("g1", { seed: 1, settings: { reporters: [], engine: { workers: 1 } } }),
      await made("g2", {
        seed: 2,
        settings: {
          reporters: [{ name: "tensorboard" }],
          alarms: [{ name: "truncation", limit: 0.3 }],
          engine: { workers: 2 },
        },
      }),
    ];
    const { arms, differences, conduct } = armsOf(runs, effectOf);
    expect([arms.map(({ runs: own }) => own.length), differences]).toEqual([[2], []]);
    expect(conduct).toEqual([
      { key: "reporters", values: [["none", "tensorboard"]] },
      { key: "engine.workers", values: [["1", "2"]] },
      { key: "alarms.truncation.limit", values: [[undefined, "0.3"]] },
      { key: "alarms", values: [[undefined, "truncation"]] },
    ]);
  });

  it("keeps a run apart that other alarms sent back, and together those that the same did or did not", async () => {
    const alarms = (limit: number): object => ({ alarms: [{ name: "truncation", limit }] });
    const events = [{ kind: "rollback", step: 4, message: "went back", facts: { to: 2 } }];
    const runs = [
      await made("h1", { seed: 1, settings: alarms(0.1) }),
      await made("h2", { seed: 2, settings: alarms(0.2), events }),
      await made("h3", { seed: 3, settings: alarms(0.3) }),
      await made("h4", { seed: 4, settings: alarms(0.2) }),
    ];
    const { arms, conduct } = armsOf(runs, effectOf);
    expect(arms.map(({ name, runs: own }) => [name, own.length])).toEqual([
      ["h1", 2],
      ["h2", 2],
    ]);
    expect(conduct).toEqual([
      {
        key: "alarms.truncation.limit",
        values: [
          ["0.1", "0.3"],
          ["0.2", "0.2"],
        ],
      },
    ]);
  });

  it("goes by the checksum of what was learned from, not by where it lies", async () => {
    const learned = (name: string, data: string, samples: string) =>
      made(name, {
        settings: { sft: { data } },
        files: { "manifest.json": JSON.stringify({ hashes: { samples } }) },
      });
    const same = [await learned("i1", "/a/draws", "1f"), await learned("i2", "/b/draws", "1f")];
    expect(armsOf(same, effectOf).arms).toHaveLength(1);
    const other = await learned("i3", "/a/draws", "2e");
    expect(armsOf([...same, other], effectOf).differences).toEqual([
      { key: "hashes.samples", values: ["1f", "2e"] },
    ]);
  });
});

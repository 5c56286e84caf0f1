import { mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { processMark } from "../../../src/base/folder-lock.ts";
import { type RunStage, runStage } from "../../../src/run/folder/run-file.ts";
import { findRuns, readRun } from "../../../src/view/runs/run-files.ts";
import { detailOf, readRunCheckpoints } from "../../../src/view/runs/run-summary.ts";
import { readRolledBack, rolledBackStretches } from "../../../src/view/runs/run-parts.ts";
import { isOverride } from "../../../src/view/runs/run-settings.ts";
import { recordOutcome } from "../../../src/watch/run-outcome.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { type MadeRun, metricsText, writeRun } from "../../helpers/run-folder.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);

describe("findRuns", () => {
  it("leaves out a folder of played games, which has settings as a run has", async () => {
    const place = at("games-and-runs");
    const run = writeRun(join(place, "run"), { rewards: [0.1] });
    mkdirSync(join(place, "games"));
    for (const name of ["games.jsonl", "recipe.resolved.yaml"])
      writeFileSync(join(place, "games", name), "");
    expect(await findRuns(place)).toEqual([run]);
  });
});

describe("readRun", () => {
  it("reads settings with origins, steps, times and evaluations", async () => {
    const run = await readRun(
      writeRun(at("whole"), { rewards: [0.1, 0.2], steps: 5, before: [0, 0], after: [1, 0] }),
    );
    expect([run.kind, run.steps]).toEqual(["train", { done: 2, planned: 5 }]);
    expect(run.metrics[1]).toEqual({
      step: 2,
      values: { "rollout/reward_mean": 0.2, "timing/seconds": 2, "timing/tokens_per_second": 200 },
    });
    expect(run.settings?.values.get("algorithm.klCoef")).toBe(0.001);
    expect(run.settings?.origins.get("algorithm.steps")).toBe(
      "recipes/search-r1.yaml:40 (tier smoke)",
    );
    expect(run.evaluations.map(({ name, step, metrics }) => [name, step, metrics["em"]])).toEqual([
      ["before", 0, 0],
      ["after", 2, 0.5],
    ]);
    expect(run.troubles).toEqual([]);
  });

  it("tolerates a cut last line, lines of another kind and missing files of a run under way", async () => {
    const text = `${metricsText([0.5])}{"other":1}\n{"step":2,"da`;
    const run = await readRun(writeRun(at("cut"), { files: { "metrics.jsonl": text } }));
    expect(run.steps.done).toBe(1);
    mkdirSync(at("bare"));
    writeFileSync(join(at("bare"), "metrics.jsonl"), metricsText([0.5]));
    const bare = await readRun(at("bare"));
    expect([bare.steps.done, bare.settings]).toEqual([1, null]);
    expect(bare.troubles).toEqual([expect.stringContaining("manifest.json")]);
  });

  it("says what it could not read and goes on", async () => {
    const files = { "metrics.jsonl": "{broken\n{}\n", "eval/before.json": "[]" };
    const run = await readRun(writeRun(at("broken"), { files }));
    expect(run.metrics).toEqual([]);
    expect(run.troubles).toEqual([
      expect.stringContaining("metrics.jsonl:1: is not JSON"),
      expect.stringContaining("before.json: is no evaluation's summary"),
    ]);
  });

  it("puts a measurement's own line to its step, whose time stays", async () => {
    const line = { step: 1, data: { "validation/loss": 2 }, timing: { seconds: 99 } };
    const text = `${metricsText([0.5])}${JSON.stringify(line)}\n`;
    const run = await readRun(writeRun(at("measured"), { files: { "metrics.jsonl": text } }));
    expect(run.metrics[0]?.values).toMatchObject({ "validation/loss": 2, "timing/seconds": 2 });
  });

  it("tells how a run stands by its lock, its last word, and its files", async () => {
    const state = async (name: string) => (await readRun(at(name))).state.state;
    writeRun(at("under-way"), { files: { [`run.lock/${processMark()}`]: "" } });
    expect(await state("under-way")).toBe("running");
    // No process has this number.
    writeRun(at("killed"), { files: { [`run.lock/${hostname()}.4194999-00000000`]: "" } });
    expect(await state("killed")).toBe("interrupted");
    expect((await readRun(at("killed"))).state.message).toBe(
      `process 4194999 on ${hostname()} ended without an outcome`,
    );
    writeRun(at("done"), { after: [1] });
    expect(await state("done")).toBe("finished");
    writeRun(at("half"), { rewards: [1] });
    expect(await state("half")).toBe("interrupted");
    const alarm = { kind: "alarm", step: 3, message: "Entropy.", facts: { action: "stop" } };
    writeRun(at("stopped"), { events: [alarm] });
    expect(await state("stopped")).toBe("failed");
    writeRun(at("again"), {
      events: [alarm, { kind: "resumed", step: 3, message: "Goes on.", facts: {} }],
    });
    expect(await state("again")).toBe("interrupted");
    await recordOutcome(at("again"), { state: "failed", message: "the disk is full" });
    expect((await readRun(at("again"))).state).toEqual({
      state: "failed",
      message: "the disk is full",
    });
    await recordOutcome(at("again"), null);
    expect(await state("again")).toBe("interrupted");
  });

  it("reads the stages of a run in order, those that were written down as done finished", async () => {
    const run = at("staged");
    writeRun(run, {
      files: { "stages.json": JSON.stringify([{ folder: "runs/x/stages/2-sft" }]) },
    });
    for (const name of ["10-train", "2-sft"]) writeRun(join(run, "stages", name), {});
    const { kind, stages } = await readRun(run);
    expect([
      kind,
      stages.map((stage) => [stage.folder.split("/").at(-1), stage.state.state]),
    ]).toEqual([
      "stages",
      [
        ["2-sft", "finished"],
        ["10-train", "interrupted"],
      ],
    ]);
  });

  it("takes draws, and a run on samples before its first step, of a recipe with stages for what they are", async () => {
    const settings = { stages: [{ do: "synth" }, { do: "sft" }], sft: {} };
    const kindOf = async (name: string, files: MadeRun["files"] = {}): Promise<string> =>
      (await readRun(writeRun(at(name), { settings, files }))).kind;
    expect(await kindOf("drawn", { "synth.json": "{}" })).toBe("synth");
    const manifest = JSON.stringify({ hashes: { samples: "1f" } });
    expect(await kindOf("tuned", { "manifest.json": manifest })).toBe("sft");
    expect(await kindOf("begun")).toBe("stages");
  });

  it("takes from run.json what a run is, and which stages have ended", async () => {
    const entry = (number: number, does: string, done: boolean) =>
      runStage(does, does, { number, folder: `stages/${number}-${does}`, done });
    const files = (...stages: RunStage[]) => ({
      files: { "run.json": JSON.stringify({ stages }) },
    });
    const run = at("recorded");
    writeRun(run, files(entry(1, "sft", true), entry(2, "mine", false)));
    for (const name of ["1-sft", "2-mine"]) writeRun(join(run, "stages", name), {});
    const { kind, stages } = await readRun(run);
    expect(kind).toBe("stages");
    expect(stages.map(({ state }) => state.state)).toEqual(["finished", "interrupted"]);
    const alone = [runStage("before", "evaluate"), runStage("mine", "mine", { number: 1 })];
    expect((await readRun(writeRun(at("one"), files(...alone)))).kind).toBe("mine");
    // A recipe whose stages are one, or none, is a run of stages all the same.
    const around = [runStage("before", "evaluate"), runStage("after", "evaluate")];
    for (const own of [[entry(1, "mine", false)], []])
      expect((await readRun(writeRun(at(`${own.length}`), files(...around, ...own)))).kind).toBe(
        "stages",
      );
    const measured = { metrics: { em: 0.5 }, intervals: { em: null }, n: 4, fingerprint: "ab" };
    const evaluation = writeRun(at("evaluation"), {
      files: {
        "run.json": JSON.stringify({ stages: [runStage("evaluate", "evaluate", { number: 1 })] }),
        "results.json": JSON.stringify(measured),
      },
    });
    expect(await readRun(evaluation)).toMatchObject({
      kind: "evaluate",
      evaluations: [{ name: "after", n: 4, metrics: { em: 0.5 } }],
    });
  });

  it("refuses a folder that holds no run", async () => {
    await expect(readRun(folder)).rejects.toThrow(errorWith("FILE_MISSING", "is no run"));
  });
});

describe("findRuns", () => {
  it("finds runs at any depth, not the stages and checkpoints inside them", async () => {
    const place = at("many");
    writeRun(join(place, "deep", "er", "a"));
    writeRun(join(place, "b"));
    writeRun(join(place, "b", "stages", "1-sft"));
    const found = (await findRuns(place)).map((path) => path.slice(place.length + 1));
    expect(found.sort()).toEqual(["b", "deep/er/a"]);
    await expect(findRuns(at("nowhere"))).rejects.toThrow(
      errorWith("FILE_MISSING", "no such folder"),
    );
  });
});

describe("detailOf", () => {
  it("says which settings were laid over the recipe and the command that goes on", async () => {
    const run = writeRun(at("to resume"), { rewards: [0.5], steps: 4, seed: 3, klCoef: 0 });
    const { settings, next } = await detailOf(await readRun(run));
    expect(settings.filter(({ overrides }) => overrides).map(({ key }) => key)).toEqual([
      ...["seed", "algorithm.klCoef"],
    ]);
    expect(next?.command).toBe(`agentrl resume '${run}'`);
  });
});

describe("readRunCheckpoints", () => {
  it("gives steps, sizes, and whether the last file is there", async () => {
    const run = writeRun(at("kept"), {
      files: {
        "checkpoints/step-10/model.safetensors": "12345",
        "checkpoints/step-10/training-state.json": "{}",
        "checkpoints/step-9/model.safetensors": "123",
        "checkpoints/other/file": "1",
      },
    });
    const found = await readRunCheckpoints(run);
    expect(found.map(({ step, bytes, complete }) => [step, bytes, complete])).toEqual([
      [9, 3, false],
      [10, 7, true],
    ]);
  });
});

describe("readRolledBack", () => {
  const summary = JSON.stringify({ n: 4, metrics: { em: 0.5 } });

  it("gives what was taken back, in order, as curves from the step that the run went back to", async () => {
    // Went back from 6 to 4, then from 7 to 2: the first return's step 4 was taken back by the second.
    const run = writeRun(at("back"), {
      rewards: [0.1, 0.2, 0.9],
      files: {
        "rolled-back/2/metrics.jsonl": metricsText([0.3, 0.4, 0.5, 0.6, 0.7], {}, 3),
        "rolled-back/1/metrics.jsonl": metricsText([0, 0.05], {}, 5),
        "rolled-back/1/eval/step-6.json": summary,
        "rolled-back/3/trajectories/step-9.jsonl": "",
      },
    });
    const returns = await readRolledBack(run);
    expect(returns.map(({ number, metrics }) => [number, metrics.length])).toEqual([
      [1, 2],
      [2, 5],
      [3, 0],
    ]);
    expect(returns[0]?.evaluations.map(({ step, metrics }) => [step, metrics["em"]])).toEqual([
      [6, 0.5],
    ]);
    const stretches = rolledBackStretches(returns, (await readRun(run)).metrics);
    expect(
      stretches.map((rows) => rows.map(({ values }) => values["rollout/reward_mean"])),
    ).toEqual([
      [0.4, 0, 0.05],
      [0.2, 0.3, 0.4, 0.5, 0.6, 0.7],
    ]);
  });
});

describe("planned steps", () => {
  it("are those of the manifest where the settings do not say them", async () => {
    const planned = async (name: string, manifest: object): Promise<number | null> => {
      const files = { "manifest.json": JSON.stringify(manifest) };
      return (await readRun(writeRun(at(name), { files }))).steps.planned;
    };
    expect(await planned("pairs", { hashes: { pairs: "1f" }, steps: 104 })).toBe(104);
    expect(await planned("older", { hashes: { pairs: "1f" } })).toBe(null);
  });
});

describe("isOverride", () => {
  it("is what neither the schema nor the recipe's file says", () => {
    const origins = [
      "default",
      "recipes/a.yaml:12",
      "my.yaml:3 (tier mini)",
      "--set",
      "stage 2 (sft)",
    ];
    expect(origins.map(isOverride)).toEqual([false, false, false, true, true]);
  });
});

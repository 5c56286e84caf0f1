import {
  appendFileSync,
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { sha256 } from "../../../src/base/files.ts";
import { policyFolder } from "../../../src/run/assemble.ts";
import { setRunAside } from "../../../src/run/folder/replaced-run.ts";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { openRunControl, StopRequested } from "../../../src/run/folder/run-control.ts";
import { runRecipe } from "../../../src/run/run-recipe.ts";
import type { Session } from "../../../src/run/session.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { checkSettings, parseSet, resolveSettings } from "../../../src/run/settings/settings.ts";
import type { RunEvent } from "../../../src/watch/run-event.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const root = temporaryFolder();
const recipe = await loadRecipe("search-r1");
const SMALL = [
  ...["algorithm.steps=4", "algorithm.promptsPerStep=2", "algorithm.groupSize=2"],
  ...["algorithm.optimizer.learningRate=0.0001", "evaluation.dataset.questions=2"],
  ...["checkpoints.every=1", "engine.workers=1", "alarms=[]"],
];

/** Trains into a folder; what was told comes along. */
async function train(name: string, sets: string[] = [], options: Partial<Session> = {}) {
  const events: RunEvent[] = [];
  const overrides = [...SMALL, ...sets].map(parseSet);
  const resolved = resolveSettings(recipe, { tier: "smoke", overrides });
  const result = await runRecipe(checkSettings(settingsSchema, resolved), {
    out: join(root, name),
    version: "0",
    signal: new AbortController().signal,
    onEvent: (event) => events.push(event),
    ...options,
  });
  return { result, events };
}

const at = (...names: string[]): string => join(root, ...names);
const dataOf = (name: string, ...folders: string[]): unknown[] =>
  readFileSync(at(name, ...folders, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => {
      const { step, data } = JSON.parse(line) as { step: number; data: unknown };
      return { step, data };
    });
const weightsOf = (name: string, step: number): string =>
  sha256(readFileSync(at(name, "checkpoints", `step-${step}`, "model.safetensors")));

/** For what a training does between two steps. */
const PATIENCE = { timeout: 120_000, interval: 20 };

/** An alarm that rings at every step of this recipe, and never again until it was quiet. */
const RINGS = "{ name: zero-variance, limit: 0.01, smooth: 1";

describe("runTrain", { timeout: 300_000 }, () => {
  it("keeps the newest checkpoints and the best one, and tells that the first batch holds together", async () => {
    const { events } = await train("straight", ["checkpoints.keep=2"]);
    const kept = readdirSync(at("straight", "checkpoints")).sort();
    expect(kept.slice(-2)).toEqual(["step-3", "step-4"]);
    expect(kept.length).toBeLessThanOrEqual(3);
    expect(events.map(({ kind }) => kind)).toEqual(["lint"]);
    expect(events[0]?.message).toMatch(
      /^first batch: 4 trajectories hold together; \d+ log-probabilities computed again, at most \S+ nats apart$/,
    );
    const [written = ""] = readFileSync(at("straight", "events.jsonl"), "utf8").split("\n");
    expect(JSON.parse(written)).toMatchObject({ kind: "lint", step: 0 });
  });

  it("trains on what was sampled in 8 bits, and reports how far that is from the trainer", async () => {
    const { events } = await train("rounded", ["engine.samplingWeights=int8", "algorithm.steps=2"]);
    // Nothing is computed again that is known to differ.
    expect(events.find(({ kind }) => kind === "lint")?.message).toBe(
      "first batch: 4 trajectories hold together",
    );
    const mismatch = dataOf("rounded").map(
      (line) => (line as { data: Record<string, number> }).data["mismatch/kl"]!,
    );
    expect(mismatch).toHaveLength(2);
    for (const each of mismatch) {
      expect(each).toBeGreaterThan(1e-7);
      expect(each).toBeLessThan(0.1);
    }
  });

  it("refuses a folder that holds a run, and replaces it when told to", async () => {
    await expect(train("straight")).rejects.toThrow(errorWith("RUN_EXISTS", "--resume"));
    const before = dataOf("straight");
    await train("straight", ["algorithm.steps=1"], { overwrite: true });
    expect(dataOf("straight")).toEqual(before.slice(0, 1));
    expect(readdirSync(at("straight", "checkpoints"))).toEqual(["step-1"]);
  });

  it("leaves the run as it was where the one that is to replace it cannot begin", async () => {
    const files = (): string[] =>
      readdirSync(at("straight"), { recursive: true }).map(String).sort();
    const [before, data] = [files(), dataOf("straight")];
    const instead = (...sets: string[]) => train("straight", sets, { overwrite: true });
    await expect(instead(`policy.from=${at("nowhere")}`)).rejects.toThrow(/nowhere/);
    // Of itself, too: what it would begin with is what it would remove.
    const own = at("straight", "checkpoints", "step-1");
    await expect(instead(`policy.from=${own}`)).rejects.toThrow(/step-1/);
    await expect(instead("reporters=[mlflow]")).rejects.toThrow("MLFLOW_TRACKING_URI");
    expect(files()).toEqual(before);
    expect(dataOf("straight")).toEqual(data);
    // As a process leaves it that is killed in between.
    await setRunAside(at("straight"));
    await expect(train("straight")).rejects.toThrow(errorWith("RUN_EXISTS", "--resume"));
    expect(files()).toEqual(before);
  });

  it("refuses to go on under other settings, and goes on under a higher number of steps", async () => {
    const changed = train("straight", ["algorithm.groupSize=3"], { resume: true });
    await expect(changed).rejects.toThrow(
      errorWith("RUN_SETTINGS_CHANGED", "algorithm.groupSize: 2 → 3"),
    );
    await train("straight", ["checkpoints.keep=null"], { resume: true });
    await train("whole", ["checkpoints.keep=null"]);
    expect(dataOf("straight")).toEqual(dataOf("whole"));
    expect(weightsOf("straight", 4)).toBe(weightsOf("whole", 4));
  });

  it("has nothing left to do under fewer steps than are done", async () => {
    const fewer = train("straight", ["algorithm.steps=3"], { resume: true });
    await expect(fewer).rejects.toThrow(errorWith("RUN_NOTHING_LEFT", "step 4 of 3"));
  });

  it("does not go on from another policy than it began with", async () => {
    cpSync(await policyFolder("base"), at("policy"), { recursive: true });
    const sets = [`policy.from=${at("policy")}`];
    await train("other", [...sets, "algorithm.steps=1"]);
    const config = JSON.parse(readFileSync(at("policy", "config.json"), "utf8")) as object;
    writeFileSync(at("policy", "config.json"), JSON.stringify({ ...config, rms_norm_eps: 1e-4 }));
    const on = train("other", sets, { resume: true });
    await expect(on).rejects.toThrow(errorWith("RUN_DATA_CHANGED", "started with a policy of"));
    expect(dataOf("other")).toHaveLength(1);
  });

  it("names a damaged checkpoint and goes on from the one before, to the same end", async () => {
    const end = weightsOf("straight", 4);
    rmSync(at("straight", "eval", "after.json"));
    appendFileSync(at("straight", "checkpoints", "step-4", "optimizer.safetensors"), "!");
    const { events } = await train("straight", ["checkpoints.keep=null"], { resume: true });
    expect(events.map(({ kind, message }) => [kind, message])).toEqual([
      ["checkpoint-damaged", expect.stringMatching(/step-4: cannot be used \(optimizer/)],
      ["resumed", "resumes from step 3"],
      ["lint", expect.any(String)],
    ]);
    expect(weightsOf("straight", 4)).toBe(end);
    expect(dataOf("straight")).toEqual(dataOf("whole"));
  });

  it("ends where an alarm says so, and keeps what was done", async () => {
    const sets = [`alarms=[${RINGS}, action: stop }]`];
    await expect(train("stopped", sets)).rejects.toThrow(errorWith("RUN_ALARM", "zero-variance"));
    expect(dataOf("stopped")).toHaveLength(1);
    expect(existsSync(at("stopped", "checkpoints", "step-1", "checkpoint.json"))).toBe(true);
  });

  it("goes back to the start or the best checkpoint with a lower learning rate, and as often as it may", async () => {
    const sets = [`alarms=[${RINGS}, action: rollback }]`, "rollback.most=1"];
    const events: RunEvent[] = [];
    const run = train("back", sets, { onEvent: (event) => events.push(event) });
    await expect(run).rejects.toThrow(errorWith("RUN_ALARM", "gone back 1 times before"));
    expect(events.map(({ kind }) => kind)).toEqual([
      ...["lint", "alarm", "rollback", "lint", "alarm"],
    ]);
    // No step was good: back to where it began. What came since is set aside.
    const rollback = events.find(({ kind }) => kind === "rollback");
    expect(rollback?.facts).toMatchObject({ from: 1, to: 0, learningRateFactor: 0.5 });
    const rates = [dataOf("back"), dataOf("back", "rolled-back", "1")].map((lines) =>
      lines.map(
        (each) => (each as { data: Record<string, number> }).data["optimizer/learning_rate"],
      ),
    );
    expect(rates).toEqual([[0.00005], [0.0001]]);
  });

  it("does between steps what is asked of it, paused or not, and can be gone on with after a stop", async () => {
    const control = openRunControl();
    const pausedAfterStep = async (step: number): Promise<void> => {
      control.pause();
      control.evaluate();
      await vi.waitUntil(() => existsSync(at("asked", "eval", `step-${step}.json`)), PATIENCE);
      control.save();
      const saved = at("asked", "checkpoints", `step-${step}`, "checkpoint.json");
      await vi.waitUntil(() => existsSync(saved), PATIENCE);
      control.resume();
    };
    const asked = train("asked", ["checkpoints.every=100"], {
      control,
      onBatch: (_, step) => {
        if (step === 1) void pausedAfterStep(1);
        if (step === 2) control.stop();
      },
    });
    await expect(asked).rejects.toThrow(StopRequested);
    expect(readdirSync(at("asked", "checkpoints"))).toEqual(["step-2"]);
    expect(existsSync(at("asked", "eval", "step-1.json"))).toBe(true);
    await train("asked", ["checkpoints.every=100"], { resume: true });
    expect(dataOf("asked")).toEqual(dataOf("whole"));
    expect(weightsOf("asked", 4)).toBe(weightsOf("whole", 4));
  });

  it("learns nothing from a first batch that does not hold together", async () => {
    const damage: Session["onBatch"] = ([first]) => {
      const logprobs = first?.calls[0]?.completion[0]?.logprobs as number[];
      logprobs[0] = (logprobs[0] ?? 0) - 1;
    };
    await expect(train("damaged", [], { onBatch: damage })).rejects.toThrow(
      errorWith(
        "TRACE_VIOLATIONS",
        /1 violation in the first batch \(logprob-drift\), e\.g\. 1-0-0/,
      ),
    );
    expect(readFileSync(at("damaged", "metrics.jsonl"), "utf8")).toBe("");
    expect(existsSync(at("damaged", "trajectories", "step-1.jsonl"))).toBe(true);
    // As it was told, it can be trained on nevertheless.
    await train("damaged", ["batchCheck=false", "algorithm.steps=1"], {
      onBatch: damage,
      resume: true,
    });
    expect(dataOf("damaged")).toHaveLength(1);
  });

  it("evaluates on the way, which is part of the step's metrics", async () => {
    const names: string[] = [];
    const sets = ["evaluation.during={ every: 2, questions: 1 }", "algorithm.steps=3"];
    await train("evaluated", sets, { onEvaluation: (name) => names.push(name) });
    expect(names).toEqual(["before", "step-2", "after"]);
    const ems = dataOf("evaluated").map((each) =>
      Object.keys((each as { data: object }).data).includes("eval/em"),
    );
    expect(ems).toEqual([false, true, false]);
  });
});

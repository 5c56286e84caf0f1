import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256File } from "../../../src/base/files.ts";
import { openRunControl, StopRequested } from "../../../src/run/folder/run-control.ts";
import { parseRecipe } from "../../../src/run/settings/recipe-file.ts";
import { runAlone } from "../../../src/run/driver.ts";
import { sftStage } from "../../../src/run/stages/shipped.ts";
import { checkSettings, resolveSettings } from "../../../src/run/settings/settings.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import type { Session } from "../../../src/run/session.ts";
import type { RunEvent } from "../../../src/watch/run-event.ts";
import type { Sample } from "../../../src/trajectory/sample.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { answered, task } from "../../helpers/search-world.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { writeTinyModel } from "../../helpers/tiny-model.ts";
import "../../helpers/all-parts.ts";

const folder = temporaryFolder();
const model = await writeTinyModel(join(folder, "model"));
const data = join(folder, "draws");

/** A question and an answer as a teacher without tokens records them. */
function sample(number: number, length = 1): Sample {
  const id = `q/${number}`;
  const text = `${" the river".repeat(length)} ${number}`;
  const said = (owner: "template" | "policy", each: string) => {
    return { owner, ids: [], logprobs: null, text: each };
  };
  const made = { parent: null, role: "policy", policyVersion: null, finish: "eos" } as const;
  return {
    id,
    task,
    weight: 1,
    scores: {},
    trajectory: answered("x", {
      calls: [
        { ...made, prompt: [said("template", `one${number}`)], completion: [said("policy", text)] },
      ],
      turns: [{ call: 0, text, actions: [], problems: [], observations: [] }],
    }),
    provenance: {
      agentrl: "test",
      settings: "s",
      teacher: { name: "test" },
      draw: { name: "d", number },
      strategy: "agent",
      template: "t",
      retriever: "r",
      dataset: "d",
      seed: 1,
      steps: [],
    },
  };
}

const lines = (samples: readonly Sample[]): string =>
  samples.map((each) => `${JSON.stringify(each)}\n`).join("");
await mkdir(data, { recursive: true });
await writeFile(join(data, "samples.jsonl"), lines(Array.from({ length: 7 }, (_, i) => sample(i))));
await writeFile(join(data, "validation.jsonl"), lines([sample(8), sample(9)]));

const resolved = (sft: object, policy: object = { from: model }, more: object = {}) => {
  const content = {
    summary: "t",
    base: { policy, sft, engine: { workers: 1 }, ...more },
    tiers: { smoke: {} },
  };
  const recipe = parseRecipe(JSON.stringify(content), "own.yaml");
  return checkSettings(settingsSchema, resolveSettings(recipe, { tier: "smoke" }));
};
const settings = {
  data,
  epochs: 2,
  batch: { size: 3 },
  validation: { everySteps: 2 },
  optimizer: { learningRate: 0.01 },
};

const run = (out: string, sft: object, changes: Partial<Session> = {}) =>
  runAlone(sftStage, resolved(sft), {
    out: join(folder, out),
    version: "test",
    signal: new AbortController().signal,
    ...changes,
  });

/** Everything of `metrics.jsonl` but the timings. */
async function metricsOf(out: string): Promise<{ step: number; data: Record<string, number> }[]> {
  const text = await readFile(join(folder, out, "metrics.jsonl"), "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => {
      const { step, data: said } = JSON.parse(line) as {
        step: number;
        data: Record<string, number>;
      };
      return { step, data: said };
    });
}
const hashes = (out: string, files: readonly string[]): Promise<string[]> =>
  Promise.all(files.map((file) => sha256File(join(folder, out, file))));

describe("runSft on samples", { timeout: 120_000 }, () => {
  it("measures held-out samples at the start, on the way and at the end, and keeps the best as the policy", async () => {
    const result = await run("straight", settings);
    // Seven samples, three a step: three steps an epoch.
    expect(result).toMatchObject({
      steps: 6,
      stoppedEarly: false,
      policy: join(folder, "straight", "policy"),
    });
    expect(result.samples?.train).toMatchObject({ samples: 7, tooLong: [], nothingToLearn: [] });
    const said = await metricsOf("straight");
    expect(said.map(({ step }) => step)).toEqual([0, 1, 2, 2, 3, 4, 4, 5, 6, 6]);
    const losses = said.flatMap((each) => each.data["validation/loss"] ?? []);
    expect(losses).toHaveLength(4);
    const { before, kept } = result.validation!;
    expect(kept.loss).toBe(Math.min(...losses.slice(1)));
    expect(kept.loss!).toBeLessThan(before.loss!);
  });

  it("goes on after an interruption as if there had been none, to the byte", async () => {
    const halt = new AbortController();
    const onStep: Session["onStep"] = ({ step }) => {
      if (step === 4) halt.abort(new Error("stop"));
    };
    // It is interrupted after its fourth step, before that step's measurement.
    await expect(run("cut", settings, { signal: halt.signal, onStep })).rejects.toThrow("stop");
    const result = await run("cut", settings, { resume: true });
    expect(result.steps).toBe(6);
    expect(await metricsOf("cut")).toEqual(await metricsOf("straight"));
    const files = [
      "checkpoints/step-6/model.safetensors",
      "checkpoints/step-6/optimizer.safetensors",
      "policy/model.safetensors",
    ];
    expect(await hashes("cut", files)).toEqual(await hashes("straight", files));
    await expect(run("cut", settings, { resume: true })).rejects.toThrow(
      errorWith("RUN_NOTHING_LEFT"),
    );
  });

  it("refuses to go on with other samples", async () => {
    const other = join(folder, "other.jsonl");
    await writeFile(other, lines([sample(1)]));
    await expect(
      run("straight", { ...settings, data: other, validationData: null }, { resume: true }),
    ).rejects.toThrow(errorWith("RUN_DATA_CHANGED"));
    // Early stop and the best checkpoint go by those that are held out.
    await expect(
      run("straight", { ...settings, validationData: other }, { resume: true }),
    ).rejects.toThrow(errorWith("RUN_DATA_CHANGED", "other.jsonl"));
  });

  it("stops when held-out samples are learned no better, and goes back to the best", async () => {
    // Steps so large that it only gets worse.
    const wild = {
      ...settings,
      epochs: 9,
      optimizer: { learningRate: 0.5 },
      validation: { everySteps: 1, patience: 2 },
    };
    const result = await run("wild", wild);
    expect(result.stoppedEarly).toBe(true);
    expect(result.steps).toBeLessThan(27);
    const { kept, last } = result.validation!;
    expect(result.checkpoint).toBe(join(folder, "wild", "checkpoints", `step-${kept.step}`));
    expect(kept.loss!).toBeLessThanOrEqual(last.loss!);
  });

  it("goes back on an alarm with a lower learning rate, and ends when it has done so too often", async () => {
    // Steps so large that the weights are no numbers after the first.
    const broken = { ...settings, optimizer: { learningRate: 1e38 } };
    const more = {
      alarms: [{ name: "not-a-number", action: "rollback" }],
      rollback: { most: 1 },
      checkpoints: { every: 100 },
    };
    const events: RunEvent[] = [];
    const options = {
      out: join(folder, "broken"),
      version: "test",
      signal: new AbortController().signal,
      onEvent: (event: RunEvent) => events.push(event),
    };
    await expect(runAlone(sftStage, resolved(broken, undefined, more), options)).rejects.toThrow(
      errorWith("RUN_ALARM", "gone back 1 times"),
    );
    expect(events.map(({ kind }) => kind)).toEqual(["alarm", "rollback", "alarm"]);
    const [alarm, rollback] = events;
    expect(alarm?.message).not.toContain("--replay-batch");
    expect(rollback?.facts).toMatchObject({ to: 0, learningRateFactor: 0.5 });
    expect(existsSync(join(folder, "broken", "rolled-back", "1", "metrics.jsonl"))).toBe(true);
  });

  it("saves and stops when asked between steps, and continues to the same bytes", async () => {
    const control = openRunControl();
    const onStep: Session["onStep"] = ({ step }) => {
      if (step === 1) control.save();
      if (step === 2) control.stop();
    };
    await expect(run("asked", settings, { control, onStep })).rejects.toThrow(StopRequested);
    const checkpoints = await readdir(join(folder, "asked", "checkpoints"));
    expect(checkpoints).toContain("step-2");
    await run("asked", settings, { resume: true });
    expect(await metricsOf("asked")).toEqual(await metricsOf("straight"));
    const files = ["policy/model.safetensors"];
    expect(await hashes("asked", files)).toEqual(await hashes("straight", files));
  });

  it("starts from the policy that another run left", async () => {
    const from = join(folder, "straight", "policy");
    const chained = resolved({ ...settings, epochs: 1 }, { from });
    const options = {
      out: join(folder, "chained"),
      version: "test",
      signal: new AbortController().signal,
    };
    const { validation } = await runAlone(sftStage, chained, options);
    const [straight] = (await metricsOf("straight")).slice(-1);
    expect(validation?.before.loss).toBeCloseTo(straight?.data["validation/loss"] ?? 0, 1);
  });

  it("names samples that do not fit, or stops at the first", async () => {
    const file = join(folder, "long.jsonl");
    await writeFile(file, lines([sample(1), sample(2, 30)]));
    const short = { ...settings, data: file, validationData: null, maxTokens: 40, epochs: 1 };
    const result = await run("long", short);
    expect(result.samples?.train).toMatchObject({ samples: 1, tooLong: [{ id: "q/2" }] });
    expect(result.validation).toBeNull();
    await expect(run("long-error", { ...short, onTooLong: "error" })).rejects.toThrow(
      errorWith("SAMPLE_TOO_LONG", /long\.jsonl:2: sample q\/2 has \d+ tokens, of which 40 fit/),
    );
    await expect(run("none", { ...short, maxTokens: 1 })).rejects.toThrow(
      errorWith("SAMPLES_UNUSABLE", "2 are longer than 1 tokens"),
    );
  });

  it("says which settings contradict one another", async () => {
    await expect(run("no-data", {})).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", 'neither "data" nor "curriculum"'),
    );
    await expect(run("absent", { data: join(folder, "nowhere") })).rejects.toThrow(
      errorWith("FILE_MISSING", "sft.data is"),
    );
    const patient = { ...settings, validationData: null, validation: { patience: 1 } };
    await expect(run("patient", patient)).rejects.toThrow(
      errorWith("RECIPE_BAD_VALUE", "sft.validation.patience is 1"),
    );
    const curriculum = [{ steps: 1 }];
    expect(() => resolved({ data, curriculum })).toThrow(
      errorWith("RECIPE_BAD_VALUE", "has both data"),
    );
    expect(() => resolved({ curriculum, epochs: 2 })).toThrow(
      errorWith("RECIPE_UNKNOWN_KEY", "epochs"),
    );
    expect(() => resolved({ stages: curriculum })).toThrow(
      errorWith("RECIPE_BAD_VALUE", /sft\.stages.*sft\.curriculum/),
    );
    expect(() => resolved({ data, validation: { metric: "em" } })).toThrow(
      errorWith("RECIPE_BAD_VALUE", "validation.questions"),
    );
  });
});

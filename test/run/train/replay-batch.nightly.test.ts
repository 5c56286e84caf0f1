import { recordOf } from "../../../src/run/settings/resolved-yaml.ts";
import type { StageSession } from "../../../src/run/stages/stage.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { type BatchReplay, replayBatch } from "../../../src/run/train/replay-batch.ts";
import { runRecipe } from "../../../src/run/run-recipe.ts";

import { settingsSchema, type Settings } from "../../../src/run/settings/settings-schema.ts";
import {
  checkSettings,
  parseSet,
  type ResolvedSettings,
  resolveSettings,
} from "../../../src/run/settings/settings.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const run = temporaryFolder();
const recipe = await loadRecipe("search-r1");
const signal = new AbortController().signal;

/** Four steps with a KL to the reference and two updates each; a checkpoint after the second. */
function resolved(...sets: string[]): ResolvedSettings<Settings> {
  const small = [
    ...["algorithm.steps=4", "algorithm.promptsPerStep=2", "algorithm.groupSize=2"],
    ...["evaluation.dataset.questions=2", "engine.workers=1", "checkpoints.every=2"],
    ...["alarms=[]", "algorithm.minibatches=2"],
  ];
  const overrides = [...small, ...sets].map(parseSet);
  return checkSettings(settingsSchema, resolveSettings(recipe, { tier: "smoke", overrides }));
}

function recipeOf(...sets: string[]): Pick<StageSession, "settings" | "record"> {
  const own = resolved(...sets);
  return { settings: own.settings, record: recordOf(own) };
}

const replay = (step: number, ...sets: string[]): Promise<BatchReplay> =>
  replayBatch(recipeOf(...sets), { run, step, signal });

describe("replayBatch", { timeout: 120_000 }, () => {
  beforeAll(async () => {
    await runRecipe(resolved(), { out: run, version: "0", signal });
  }, 120_000);

  it("learns from a saved batch what the run learned, to the last bit, from the newest checkpoint before it", async () => {
    for (const [step, from] of [
      [1, 0],
      [2, 0],
      [4, 2],
    ] as const) {
      const { logged, replayed, ...rest } = await replay(step);
      expect(rest).toMatchObject({ step, from });
      expect(replayed).toEqual(logged);
      expect(Object.keys(replayed)).toContain("optimizer/grad_norm");
    }
  });

  it("tells what another learning rate would have come to", async () => {
    const same = await replay(2);
    const faster = await replay(2, "algorithm.optimizer.learningRate=0.01");
    expect(faster.replayed["optimizer/learning_rate"]).toBe(0.01);
    expect(faster.logged).toEqual(same.logged);
    expect(faster.klAfter).toBeGreaterThan(10 * same.klAfter);
  });

  it("goes on at the learning rate of the way that each step was done on", async () => {
    const rate = async (): Promise<number | undefined> =>
      (await replay(3, "rollback.learningRateFactor=0.5")).replayed["optimizer/learning_rate"];
    const before = (await rate()) ?? 0;
    writeFileSync(
      join(run, "rollbacks.json"),
      JSON.stringify([{ step: 4, to: 2, alarm: "truncation" }]),
    );
    expect(await rate()).toBe(before / 2);
    // The second return went further back than the first: the step was done a third time.
    writeFileSync(
      join(run, "rollbacks.json"),
      JSON.stringify([
        { step: 4, to: 3, alarm: "truncation" },
        { step: 4, to: 2, alarm: "truncation" },
      ]),
    );
    expect(await rate()).toBe(before / 4);
    writeFileSync(join(run, "rollbacks.json"), "[]");
  });

  it("learns nothing with another policy than the run's, nor with adapters in place of its weights", async () => {
    const other = `policy.from=${join(run, "checkpoints", "step-2")}`;
    await expect(replay(1, other)).rejects.toThrow(errorWith("RUN_DATA_CHANGED", "a policy"));
    await expect(replay(4, "policy.lora.rank=2")).rejects.toThrow(
      errorWith("RUN_SETTINGS_CHANGED", "step-2: holds a whole model"),
    );
  });

  it("says which batch is missing or damaged", async () => {
    await expect(replay(7)).rejects.toThrow(
      errorWith("REPLAY_NO_BATCH", /step-5\.jsonl is missing; the batches of steps 5 to 7/),
    );
    const file = join(run, "trajectories", "step-4.jsonl");
    const whole = readFileSync(file, "utf8");
    writeFileSync(file, `${whole.split("\n")[0] ?? ""}\n{}\n`);
    await expect(replay(4)).rejects.toThrow(
      errorWith("REPLAY_NO_BATCH", /step-4\.jsonl:2: is no trajectory \(id is missing/),
    );
    writeFileSync(file, whole);
  });
});

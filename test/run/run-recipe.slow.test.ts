import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { loadRecipe } from "../../src/run/settings/recipe-file.ts";
import { runRecipe } from "../../src/run/run-recipe.ts";
import { settingsSchema } from "../../src/run/settings/settings-schema.ts";
import { checkSettings, parseSet, resolveSettings } from "../../src/run/settings/settings.ts";
import { readRunEvaluations } from "../../src/view/runs/run-evaluations.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import "../helpers/all-parts.ts";

it("measures the start after the stage that makes it, with isStart", async () => {
  const rows = async (stage: string): Promise<[before: string, after: string]> => {
    const out = temporaryFolder();
    const sets = [
      ...[`stages=[${stage}]`, "evaluation.dataset.questions=4", "engine.workers=1"],
      // The policy loses what it knew, so that its answers differ.
      ...["algorithm.steps=1", "algorithm.klCoef=0", "algorithm.optimizer.learningRate=0.1"],
    ];
    const resolved = resolveSettings(await loadRecipe("search-r1"), {
      tier: "smoke",
      overrides: sets.map(parseSet),
    });
    await runRecipe(checkSettings(settingsSchema, resolved), {
      out,
      version: "0",
      signal: new AbortController().signal,
    });
    const read = (name: string) => readFileSync(join(out, "eval", `${name}.rows.jsonl`), "utf8");
    return [read("before"), read("after")];
  };
  const [before, after] = await rows("{ do: train }");
  expect(before).not.toBe(after);
  expect(await rows("{ do: train, isStart: true }")).toEqual([after, after]);
}, 120_000);

it("evaluates the policy of a stage that asks for it, at the steps done so far", async () => {
  const out = temporaryFolder();
  const stages = "[{ do: train, name: first, evaluate: true }, { do: train, name: second }]";
  const sets = [
    ...[`stages=${stages}`, "evaluation.dataset.questions=4", "engine.workers=1"],
    ...["algorithm.steps=1", "algorithm.klCoef=0", "algorithm.optimizer.learningRate=0.1"],
  ];
  const resolved = resolveSettings(await loadRecipe("search-r1"), {
    tier: "smoke",
    overrides: sets.map(parseSet),
  });
  const { stages: done } = await runRecipe(checkSettings(settingsSchema, resolved), {
    out,
    version: "0",
    signal: new AbortController().signal,
  });
  expect(done?.map(({ facts }) => facts["steps"])).toEqual([1, 1]);
  const { evaluations, troubles } = await readRunEvaluations(out, 2);
  expect(evaluations.map(({ name, n }) => [name, n])).toEqual([
    ["before", 4],
    ["step-1", 4],
    ["after", 4],
  ]);
  expect(troubles).toEqual([]);
  // All three under one protocol.
  expect(new Set(evaluations.map(({ fingerprint }) => fingerprint)).size).toBe(1);
}, 120_000);

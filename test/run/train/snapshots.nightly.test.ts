import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../../src/base/files.ts";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { checkSettings, parseSet, resolveSettings } from "../../../src/run/settings/settings.ts";
import { runRecipe } from "../../../src/run/run-recipe.ts";

import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const root = temporaryFolder();
const recipe = await loadRecipe("search-r1");
const at = (...names: string[]): string => join(root, ...names);

/** Rewards by the policy of up to two steps ago: steps 0, 2 and 4 take the snapshot. */
const SETS = [
  ...["algorithm.steps=5", "algorithm.promptsPerStep=2", "algorithm.groupSize=2"],
  ...["algorithm.optimizer.learningRate=0.001", "evaluation.dataset.questions=2"],
  ...["checkpoints={ every: 1, keep: 2 }", "engine.workers=1", "alarms=[]", "rewardCheck=false"],
  "models={ previous: { policy: snapshot, every: 2 } }",
  "rewards=[{ name: answer-likelihood, role: previous, as: likelihood }]",
  "reward=likelihood",
];

async function train(name: string, steps: number, resume = false): Promise<void> {
  const overrides = [...SETS, `algorithm.steps=${steps}`].map(parseSet);
  const resolved = resolveSettings(recipe, { tier: "smoke", overrides });
  const { signal } = new AbortController();
  const given = { out: at(name), version: "0", signal, resume };
  await runRecipe(checkSettings(settingsSchema, resolved), given);
}

const metricsOf = (name: string): unknown[] =>
  readFileSync(at(name, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => ({ ...(JSON.parse(line) as object), timing: {} }));
const filesOf = (name: string, folder: string): string[] =>
  readdirSync(at(name, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name: file }) => {
      const path = join(parentPath, file);
      return `${path.slice(at(name).length)} ${sha256(readFileSync(path))}`;
    })
    .sort();

describe("a run with a snapshot of the policy", { timeout: 300_000 }, () => {
  it("resumed between two snapshots equals one that was not interrupted", async () => {
    await train("straight", 5);
    await train("resumed", 3);
    await train("resumed", 5, true);
    expect(metricsOf("resumed")).toEqual(metricsOf("straight"));
    expect(filesOf("resumed", "trajectories")).toEqual(filesOf("straight", "trajectories"));
    expect(filesOf("resumed", "checkpoints")).toEqual(filesOf("straight", "checkpoints"));
    expect(filesOf("resumed", "snapshots")).toEqual(filesOf("straight", "snapshots"));
  });

  it("keeps the snapshots that its checkpoints need", () => {
    expect(readdirSync(at("straight", "checkpoints")).sort().slice(-2)).toEqual([
      "step-4",
      "step-5",
    ]);
    // Written before step 5, when checkpoint 3 was still there.
    expect(readdirSync(at("straight", "snapshots", "previous")).sort()).toEqual([
      "step-2",
      "step-4",
    ]);
  });

  it("is refused where the folder of the snapshot is gone", async () => {
    rmSync(at("resumed", "snapshots"), { recursive: true });
    await expect(train("resumed", 6, true)).rejects.toThrow(
      errorWith("ENGINE_NO_ROLE", join("snapshots", "previous", "step-4")),
    );
  });
});

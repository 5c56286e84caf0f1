import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256 } from "../../../src/base/files.ts";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { runRecipe } from "../../../src/run/run-recipe.ts";
import type { Session } from "../../../src/run/session.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import { checkSettings, parseSet, resolveSettings } from "../../../src/run/settings/settings.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const root = temporaryFolder();
const recipe = await loadRecipe("search-r1");
const SMALL = [
  ...["algorithm.steps=3", "algorithm.promptsPerStep=2", "algorithm.groupSize=2"],
  ...["evaluation.dataset.questions=2", "evaluation.during={ every: 1, questions: 1 }"],
  ...["engine.workers=1", "alarms=[]"],
];

async function train(name: string, options: Partial<Session> = {}): Promise<void> {
  const resolved = resolveSettings(recipe, { tier: "smoke", overrides: SMALL.map(parseSet) });
  const { signal } = new AbortController();
  const given = { out: join(root, name), version: "0", signal, ...options };
  await runRecipe(checkSettings(settingsSchema, resolved), given);
}

const dataOf = (name: string): unknown[] =>
  readFileSync(join(root, name, "metrics.jsonl"), "utf8")
    .trim()
    .split("\n")
    .map((line) => ({ ...(JSON.parse(line) as object), timing: {} }));
const checkpoint = (name: string): string => {
  const folder = join(root, name, "checkpoints", "step-3");
  return sha256(
    readdirSync(folder)
      .sort()
      .map((file) => sha256(readFileSync(join(folder, file))))
      .join(),
  );
};

describe("a step whose evaluation is interrupted", { timeout: 300_000 }, () => {
  it("is not whole: it is done again, with its line in the metrics", async () => {
    await train("straight");
    const stop = new AbortController();
    const interrupted = train("interrupted", {
      signal: stop.signal,
      onEvaluationStart: (name) => {
        if (name === "step-2") stop.abort();
      },
    });
    await expect(interrupted).rejects.toThrow();
    await train("interrupted", { resume: true });
    expect(dataOf("interrupted")).toEqual(dataOf("straight"));
    expect(checkpoint("interrupted")).toBe(checkpoint("straight"));
  });
});

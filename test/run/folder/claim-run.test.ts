import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withClaimedRun } from "../../../src/run/folder/claim-run.ts";
import { resolveRecipe } from "../../../src/run/settings/resolve-recipe.ts";
import { trainStage } from "../../../src/run/stages/shipped.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

describe("a run folder after a kill", () => {
  it("loses what was half written or half removed when the next command starts", async () => {
    const out = temporaryFolder();
    const remains = [
      "checkpoints/step-2.removed",
      "checkpoints/step-4.partial",
      "snapshots/reference/step-2.removed",
      "stages/1-sft.removed",
      "policy.partial",
      "replaced.removed",
    ];
    const kept = ["checkpoints/step-2", "snapshots/reference/step-4", "mine.removed.txt"];
    for (const name of [...remains, ...kept]) mkdirSync(join(out, name), { recursive: true });
    writeFileSync(join(out, "checkpoints", "step-2.removed", "model.safetensors"), "x");
    const { settings } = await resolveRecipe("search-r1", { tier: "smoke" });
    const claim = { out, stage: trainStage, settings, use: {} };
    const { signal } = new AbortController();
    await withClaimedRun({ ...claim, signal }, () => Promise.resolve());
    expect(remains.filter((name) => existsSync(join(out, name)))).toEqual([]);
    expect(kept.filter((name) => existsSync(join(out, name)))).toEqual(kept);
  });
});

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { BASE_POLICY } from "../../../src/run/bases.ts";
import { policyOfRun } from "../../../src/run/folder/policy-of-run.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const run = join(temporaryFolder(), "run");
const recipe = join(run, "recipe.resolved.yaml");
const checkpoint = (step: number): string => join(run, "checkpoints", `step-${step}`);
for (const step of [20, 40]) {
  mkdirSync(checkpoint(step), { recursive: true });
  writeFileSync(
    join(checkpoint(step), "checkpoint.json"),
    JSON.stringify({ step, attempt: 0, files: {} }),
  );
}
writeFileSync(recipe, "");

describe("policyOfRun", () => {
  it("takes the newest checkpoint of a run folder", async () => {
    expect(await policyOfRun(run)).toEqual({ policy: checkpoint(40), recipe });
  });

  it("takes a checkpoint as it is, with its run's settings", async () => {
    expect(await policyOfRun(checkpoint(20))).toEqual({ policy: checkpoint(20), recipe });
  });

  it("is null for a model folder and for what is no folder", async () => {
    expect(await policyOfRun(BASE_POLICY)).toBeNull();
    expect(await policyOfRun("org/name")).toBeNull();
  });

  it("prefers the policy that fine-tuning kept", async () => {
    const kept = join(run, "policy");
    mkdirSync(kept);
    expect(await policyOfRun(run)).toEqual({ policy: kept, recipe });
  });
});

import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256File } from "../../../src/base/files.ts";
import { loadRecipe } from "../../../src/run/settings/recipe-file.ts";
import { runAlone } from "../../../src/run/driver.ts";
import { sftStage } from "../../../src/run/stages/shipped.ts";
import { checkSettings, resolveSettings } from "../../../src/run/settings/settings.ts";
import { settingsSchema } from "../../../src/run/settings/settings-schema.ts";
import type { Session } from "../../../src/run/session.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import "../../helpers/all-parts.ts";

const folder = temporaryFolder();
const curriculum = [{ steps: 1 }, { steps: 2, behaviour: { search: 0.5, continue: 0.5 } }];
const overrides = [
  { key: "sft.curriculum", value: curriculum, origin: "test" },
  { key: "engine.workers", value: 1, origin: "test" },
];
const recipe = await loadRecipe("base-policy");
const resolved = checkSettings(
  settingsSchema,
  resolveSettings(recipe, { tier: "smoke", overrides }),
);

const run = (out: string, changes: Partial<Session> = {}) =>
  runAlone(sftStage, resolved, {
    out: join(folder, out),
    version: "test",
    signal: new AbortController().signal,
    ...changes,
  });

describe("runSft on a stream", { timeout: 120_000 }, () => {
  it("goes on within a stage as if it had not been interrupted, to the byte", async () => {
    const { steps } = await run("straight");
    expect(steps).toBe(3);
    const halt = new AbortController();
    const onStep: Session["onStep"] = ({ step }) => {
      if (step === 2) halt.abort(new Error("stop"));
    };
    await expect(run("cut", { signal: halt.signal, onStep })).rejects.toThrow("stop");
    await run("cut", { resume: true });
    for (const file of ["checkpoints/step-3/optimizer.safetensors", "policy/model.safetensors"]) {
      const [one, other] = ["straight", "cut"].map((name) => sha256File(join(folder, name, file)));
      expect(await one).toBe(await other);
    }
  });
});

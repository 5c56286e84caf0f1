import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { exportRecipe } from "../../src/exports/export-recipe.ts";
import { openNamedDataset, retrieverOver } from "../../src/run/assemble.ts";
import { serveForTest } from "../helpers/serve.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { settingsOf, TRL_CASES, type TrlRun, writeQwen2 } from "../helpers/trl-steps.ts";

const python = process.env["EXPORT_PYTHON_TRL"] ?? "";
const folder = temporaryFolder();
const script = join(import.meta.dirname, "trl-steps/steps.py");

it.skipIf(python === "").each(TRL_CASES)(
  "$name: set EXPORT_PYTHON_TRL to run it",
  { timeout: 900_000 },
  async (trlCase) => {
    const model = await writeQwen2(join(folder, "policy"));
    const resolved = await settingsOf(trlCase, model);
    const out = join(folder, trlCase.name);
    await exportRecipe(resolved, "trl", { out });
    const { settings } = resolved;
    const dataset = await openNamedDataset(settings.dataset, settings.environment);
    const { url } = await serveForTest(await retrieverOver(dataset, settings, "training"));
    const { stdout } = await promisify(execFile)(
      python,
      ["-P", script, out, `${url}/retrieve`],
      { timeout: 900_000, maxBuffer: 1 << 28 },
    );
    const run = JSON.parse(stdout.trim().split("\n").at(-1) ?? "") as TrlRun;
    writeFileSync(join(import.meta.dirname, "trl-steps", `${trlCase.name}.json`), JSON.stringify(run));
    expect(run.updates.length).toBeGreaterThan(1);
  },
);

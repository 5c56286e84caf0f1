import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe } from "vitest";
import { exportRecipe } from "../../src/exports/export-recipe.ts";
import { openNamedDataset, retrieverOver } from "../../src/run/assemble.ts";
import { startRetrievalServer } from "../../src/server/retrieval-server.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { describeTrlRun } from "../helpers/trl-agreement.ts";
import { TRL_CASES, type TrlRun } from "../helpers/trl-steps.ts";

/** A Python with TRL 1.16, torch and transformers. TRL_STEPS_RECORD=1 writes the files that trl-steps.test.ts reads. */
const python = process.env["EXPORT_PYTHON_TRL"] ?? "";
const folder = temporaryFolder();
const golden = join(import.meta.dirname, "trl-steps");

describe.skipIf(python === "")("an export to trl (set EXPORT_PYTHON_TRL to run it)", () => {
  for (const trlCase of TRL_CASES) {
    describeTrlRun(trlCase, folder, async (resolved) => {
      const { settings } = resolved;
      const out = join(folder, trlCase.name);
      await exportRecipe(resolved, "trl", { out });
      const dataset = await openNamedDataset(settings.dataset, settings.environment);
      const retriever = await retrieverOver(dataset, settings, "training");
      const server = await startRetrievalServer(retriever, { port: 0 }, { version: "0" });
      try {
        const args = ["-P", join(golden, "steps.py"), out, `${server.url}/retrieve`];
        const { stdout } = await promisify(execFile)(python, args, { maxBuffer: 1 << 28 });
        const line = stdout.trim().split("\n").at(-1) ?? "";
        if (process.env["TRL_STEPS_RECORD"] === "1")
          writeFileSync(join(golden, `${trlCase.name}.json`), `${line}\n`);
        return JSON.parse(line) as TrlRun;
      } finally {
        await server.drain();
      }
    });
  }
});

import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EngineServer } from "../../src/server/engine/engine-server.ts";
import { serveModel } from "../helpers/served-engine.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { writeTinyModel } from "../helpers/tiny-model.ts";

/** Pythons with the package `tinker`, with commas: venvs of SDK 0.25.0 and 0.38.0. Without it, the test is skipped. */
const pythons = (process.env["TINKER_PYTHONS"] ?? "").split(",").filter((path) => path !== "");

/** What the script prints, in its last line. */
async function report(python: string, args: readonly string[]): Promise<Report> {
  const script = join(import.meta.dirname, "tinker-sdk.py");
  const run = promisify(execFile)(python, [script, ...args], { timeout: 180_000 });
  const { stdout } = await run.catch((error: unknown) => {
    // The SDK warns on stderr; the status tells why the script ended.
    throw new Error(`${python} failed: ${JSON.stringify(error)}`);
  });
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as Report;
}

interface Report {
  sdk: string;
  sft: number[];
  samples: { tokens: number[]; stop: string }[];
  samplerToTrainer: number;
  weightsOnly: number;
  loaded: number;
  nextStep: number;
  moved: number;
}

describe.skipIf(pythons.length === 0)(
  "the official Tinker SDK over serve engine (set TINKER_PYTHONS to run it)",
  () => {
    const folder = temporaryFolder();
    const key = "tml-conformance";
    let server: EngineServer;
    beforeEach(async () => {
      const model = await writeTinyModel(join(folder, "model"));
      server = await serveModel(model, folder, { token: key });
    });
    afterEach(() => server.close());

    it.each(pythons.length === 0 ? ["no Python is named"] : pythons)("trains, samples, saves and resumes: %s", { timeout: 200_000 }, async (python) => {
      const found = await report(python, [server.url, key]);
      const [before = NaN, ...later] = found.sft;
      expect(later.at(-1)).toBeLessThan(before - 1);
      expect(found.samples).toHaveLength(2);
      expect(found.samples[0]!.tokens.length).toBeGreaterThan(0);
      expect(found.samplerToTrainer).toBeLessThan(1e-4);
      expect(found.weightsOnly).toBe(0);
      expect(found.loaded).toBe(0);
      expect(found.moved).toBeGreaterThan(1e-3);
      expect(found.nextStep).toBe(0);
    });
  },
);

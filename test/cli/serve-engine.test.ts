import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { writeFile } from "node:fs/promises";
import { writeAdapter } from "../../src/models/lora/adapter-folder.ts";
import { initialAdapter } from "../../src/models/lora/lora.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../helpers/tiny-model.ts";

const serveCommand = commandNamed("serve");

const folder = temporaryFolder();

const serve = (policy: string) =>
  runCommand(serveCommand, ["serve", "engine", "--policy", policy, "--port", "0"]);

describe("serve engine", () => {
  it("refuses adapters at the start, and names their base", async () => {
    const base = await writeTinyModel(join(folder, "base"));
    const adapters = join(folder, "adapters");
    const lora = { rank: 2, alpha: 4, rslora: false, targets: ["q_proj"] };
    const options = { base, dtype: "F32" } as const;
    await writeAdapter(adapters, tinyConfig, initialAdapter(tinyConfig, lora, 1), options);
    const { status, stderr } = await serve(adapters);
    expect([status, stderr]).toEqual([2, expect.stringContaining(`Give their base, ${base}`)]);
    expect(stderr).toContain("ENGINE_UNFIT");
  });

  it("refuses a model that it could not open, at the start", async () => {
    const model = await writeTinyModel(join(folder, "model"));
    await writeFile(join(model, "tokenizer.json"), "{}");
    const { status, stderr } = await serve(model);
    expect([status, stderr]).toEqual([3, expect.stringContaining("TOKENIZER_BAD")]);
  });
});

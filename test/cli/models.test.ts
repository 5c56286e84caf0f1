import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { loadTokenizer } from "../../src/text/tokenizer.ts";
import { readJson } from "../../src/base/files.ts";
import { readCheckpoint, storedTypeOf } from "../../src/models/checkpoint.ts";
import { commandNamed, runCommand } from "../helpers/run-command.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const modelsCommand = commandNamed("models");

const golden = new URL("../golden/gguf/", import.meta.url).pathname;
const folder = temporaryFolder();
const convert = (...args: string[]) =>
  runCommand(modelsCommand, ["models", "convert", ...args], `${folder}/`);

describe("agentrl models convert", () => {
  it("writes a folder and says what it holds", async () => {
    const out = join(folder, "model");
    const { stdout, stderr, status } = await convert(join(golden, "llama.gguf"), "--out", out);
    expect(status, stderr).toBe(0);
    expect(stdout).toBe(
      "model: llama, 2 layers of 32; matrices Q4_0 × 5, Q8_0 × 5, Q5_1 × 5 as F32, 90.7 kB\n",
    );
    expect((await loadTokenizer(out)).encode("The river").length).toBeGreaterThan(1);
    const again = await convert(join(golden, "qwen3.gguf"), "--out", out);
    expect(again).toMatchObject({ status: 2 });
    expect(again.stderr).toContain("already exists");
    const args = ["--out", out, "--overwrite", "--json", "--dtype", "float16"];
    const over = await convert(join(golden, "qwen3.gguf"), ...args);
    expect(JSON.parse(over.stdout)).toMatchObject({
      out: "model",
      architecture: "qwen3",
      dtype: "F16",
      stored: { BF16: 8 },
    });
    expect(await storedTypeOf(out)).toBe("F16");
  });

  it("writes a folder in another dtype, for servers that cannot compute in its own", async () => {
    const from = join(folder, "half");
    const halved = ["--out", from, "--dtype", "float16"];
    await convert(join(golden, "llama.gguf"), ...halved);
    const out = join(folder, "single");
    const { stdout, stderr, status } = await convert(from, "--out", out, "--dtype", "float32");
    expect(status, stderr).toBe(0);
    expect(stdout).toContain("single: llama, 2 layers of 32; matrices F16 × 15 as F32");
    expect(await storedTypeOf(out)).toBe("F32");
    expect(await readJson(join(out, "config.json"))).toMatchObject({ torch_dtype: "float32" });
    expect((await readCheckpoint(out)).weights).toEqual((await readCheckpoint(from)).weights);
    expect((await loadTokenizer(out)).encode("The river").length).toBeGreaterThan(1);
    // Without --dtype, that of the folder.
    const same = join(folder, "same");
    await convert(from, "--out", same);
    expect(await storedTypeOf(same)).toBe("F16");
  });

  it("says what a file is that is none", async () => {
    const out = join(folder, "none");
    const { stderr, status } = await convert(join(golden, "blocks.json"), "--out", out);
    expect(status).toBe(3);
    expect(stderr).toContain('blocks.json: begins with "{\\n \\"", not with "GGUF"');
    expect(existsSync(out)).toBe(false);
  });
});

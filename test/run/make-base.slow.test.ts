import { execFile } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { sha256File } from "../../src/base/files.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const bin = join(import.meta.dirname, "..", "..", "bin", "agentrl.js");

it("is made by one of two commands that need it together", async () => {
  const cache = temporaryFolder();
  const ask = () =>
    promisify(execFile)(
      process.execPath,
      [bin, "ask", "Where was the mother of Nesgat Vorlok born?", "--policy", "timid@smoke"],
      { env: { ...process.env, XDG_CACHE_HOME: cache } },
    );
  const [first, second] = await Promise.all([ask(), ask()]);
  const told = first.stderr + second.stderr;
  expect(told.match(/^makes the base policy "timid@smoke" first/gm)).toHaveLength(1);
  const place = join(cache, "agentrl", "bases");
  const [folder = "", ...others] = readdirSync(place);
  expect(others).toEqual([]);
  expect(readdirSync(join(place, folder))).toEqual([
    ...["README.md", "checkpoint.json", "config.json", "model.safetensors"],
    ...["recipe.resolved.yaml", "tokenizer.json", "tokenizer_config.json"],
  ]);
  const card = readFileSync(join(place, folder, "README.md"), "utf8");
  expect(card).toContain(await sha256File(join(place, folder, "model.safetensors")));
}, 240_000);

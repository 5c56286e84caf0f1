import { cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeAdapter } from "../../../src/models/lora/adapter-folder.ts";
import { initialAdapter } from "../../../src/models/lora/lora.ts";
import { hashOfPolicy } from "../../../src/run/folder/policy-hash.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";
import { tinyConfig, writeTinyModel } from "../../helpers/tiny-model.ts";

const folder = temporaryFolder();

it("a policy's hash is that of its files: of an adapter, its own and its base's", async () => {
  const base = await writeTinyModel(join(folder, "base"));
  const other = join(folder, "other");
  await cp(base, other, { recursive: true });
  expect(await hashOfPolicy(other)).toBe(await hashOfPolicy(base));
  await writeFile(join(other, "tokenizer.json"), "{}");
  expect(await hashOfPolicy(other)).not.toBe(await hashOfPolicy(base));
  const lora = { rank: 2, alpha: 2, rslora: false, targets: ["q_proj"] };
  const adapters = [1, 2].map((seed) => join(folder, `adapter-${seed}`));
  for (const [i, at] of adapters.entries()) {
    const adapter = initialAdapter(tinyConfig, lora, i);
    await writeAdapter(at, tinyConfig, adapter, { base, dtype: "F32" });
  }
  const hashes = await Promise.all([
    ...adapters.map((each) => hashOfPolicy(each, base)),
    hashOfPolicy(adapters[0]!, other),
    hashOfPolicy(base),
  ]);
  expect(new Set(hashes).size).toBe(4);
});

import { copyFile, mkdir, readdir, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeEach, describe, expect, it, vi } from "vitest";
import { readDecoderConfig } from "../../src/models/checkpoint.ts";
import { baseFolder, policyFolder } from "../../src/run/assemble.ts";
import { folderOfName } from "../../src/run/bases.ts";
import { plannedModel } from "../../src/run/plan/planned-model.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const golden = new URL("../golden/gguf", import.meta.url).pathname;
const folder = temporaryFolder();
const file = join(folder, "tiny.gguf");

beforeEach(async ({ task }) => {
  vi.stubEnv("XDG_CACHE_HOME", join(folder, "cache", task.id));
  await copyFile(join(golden, "llama.gguf"), file);
});

describe("a policy that is a GGUF file", () => {
  it("is converted once, into the cache, by its content", async () => {
    const notices: string[] = [];
    const onNotice = (notice: string): unknown => notices.push(notice);
    const place = await folderOfName(file);
    const asked = await Promise.all([1, 2].map(() => policyFolder(file, { onNotice })));
    expect(asked).toEqual([place, place]);
    expect(notices.filter((each) => each.startsWith("converts"))).toEqual([
      `converts ${file} first, once; kept in ${place}`,
    ]);
    expect((await readDecoderConfig(place)).layers).toBe(2);
    await rename(file, join(folder, "tiny2.gguf"));
    await mkdir(join(folder, "other"), { recursive: true });
    await copyFile(join(folder, "tiny2.gguf"), join(folder, "other", "tiny.gguf"));
    expect(await policyFolder(join(folder, "other", "tiny.gguf"), { onNotice })).toBe(place);
    expect(notices.length).toBeLessThanOrEqual(2);
    await copyFile(join(golden, "qwen3.gguf"), file);
    const changed = await policyFolder(file);
    expect(changed).not.toBe(place);
    expect((await readDecoderConfig(changed)).qkNorm).toBe(true);
  });

  it("leaves nothing where the file is damaged, and names a file that is missing", async () => {
    await writeFile(file, "GGUF and no more");
    await expect(policyFolder(file)).rejects.toThrow(errorWith("GGUF_BAD", file));
    const place = join(process.env["XDG_CACHE_HOME"] ?? "", "agentrl", "models");
    expect(await readdir(place)).toEqual([]);
    const none = join(folder, "none.gguf");
    await expect(policyFolder(none)).rejects.toThrow(errorWith("FILE_MISSING", none));
  });

  it("can be planned before it is converted, and be the base of adapters", async () => {
    const environment = { name: "search-qa" } as never;
    const planned = await plannedModel({ policy: { from: file }, environment });
    expect(planned).toMatchObject({ folder: null, stored: "F32", config: { layers: 2, heads: 4 } });
    const adapters = join(folder, "adapters");
    await mkdir(adapters, { recursive: true });
    await writeFile(
      join(adapters, "adapter_config.json"),
      JSON.stringify({ base_model_name_or_path: file }),
    );
    await writeFile(join(adapters, "adapter_model.safetensors"), "");
    expect(await baseFolder(adapters)).toBe(await folderOfName(file));
    const after = await plannedModel({ policy: { from: file }, environment });
    expect(after).toMatchObject({ stored: "F32", config: planned.config });
    expect(after.folder).toBe(await folderOfName(file));
  });
});

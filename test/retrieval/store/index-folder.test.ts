import { existsSync } from "node:fs";
import { mkdir, readFile, readdir, rename, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { processMark } from "../../../src/base/folder-lock.ts";
import {
  indexKind,
  manifestPath,
  writeIndexFolder,
  writeManifest,
} from "../../../src/retrieval/store/index-folder.ts";
import { deadProcess } from "../../helpers/dead-process.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const root = temporaryFolder();

async function freshFolder(name: string): Promise<string> {
  const folder = join(root, name);
  await mkdir(folder);
  return folder;
}

const manifest = (kind: string) => ({ format: "agentrl-index", version: 2, kind });

/** Makes an index of nothing but a manifest. */
async function make(out: string, kind: string, overwrite = false): Promise<void> {
  await writeIndexFolder(out, { overwrite }, (folder) => writeManifest(folder, manifest(kind)));
}

describe("writeIndexFolder", () => {
  it("makes a folder whole or not at all", async () => {
    const folder = await freshFolder("whole");
    const out = join(folder, "deep/idx");
    await make(out, "one");
    expect(await indexKind(out)).toBe("one");
    const failing = writeIndexFolder(
      join(folder, "idx"),
      { overwrite: false },
      async (temporary) => {
        await writeFile(join(temporary, "half"), "");
        throw new Error("failed");
      },
    );
    await expect(failing).rejects.toThrow("failed");
    expect(await readdir(folder)).toEqual(["deep"]);
    expect(await readdir(join(folder, "deep"))).toEqual(["idx"]);
  });

  it("replaces an index only when asked, and then whole", async () => {
    const folder = await freshFolder("replace");
    const out = join(folder, "idx");
    await make(out, "one");
    await writeFile(join(out, "old"), "");
    await expect(make(out, "two")).rejects.toThrow(errorWith("INDEX_EXISTS", "--overwrite"));
    await make(out, "two", true);
    expect(await indexKind(out)).toBe("two");
    expect(await readdir(out)).toEqual(["manifest.json"]);
    expect(await readdir(folder)).toEqual(["idx"]);
  });

  it("never replaces a folder that is not an index, or a file", async () => {
    const folder = await freshFolder("foreign");
    await writeFile(join(folder, "thesis.tex"), "years of work");
    for (const out of [folder, join(folder, "thesis.tex")]) {
      await expect(make(out, "one", true)).rejects.toThrow(errorWith("INDEX_EXISTS", "never"));
    }
    expect(await readFile(join(folder, "thesis.tex"), "utf8")).toBe("years of work");
  });

  it("removes what killed processes left, and nothing of those that run or have other names", async () => {
    const folder = await freshFolder("leftovers");
    const living = `${hostname()}.1-00000000`;
    const kept = [
      `idx.tmp-${living}`,
      `idx.tmp-elsewhere.1-00000000`,
      `other.tmp-${deadProcess()}`,
      "idx.tmp",
    ];
    const gone = [`idx.tmp-${deadProcess()}`, `idx.tmp-${deadProcess()}-replaced-0badcafe`];
    for (const name of [...kept, ...gone]) {
      await mkdir(join(folder, name));
      await writeFile(join(folder, name, "file"), "");
    }
    await make(join(folder, "idx"), "one");
    expect(await readdir(folder)).toEqual([...kept, "idx"].sort());
  });

  it("says what could not be written, and that nothing has changed", async () => {
    const folder = await freshFolder("unwritable");
    const out = join(folder, "idx");
    await make(out, "one");
    const failing = writeIndexFolder(out, { overwrite: true }, () =>
      writeFile(join(folder, "no/such/folder"), ""),
    );
    await expect(failing).rejects.toThrow(
      errorWith("FILE_WRITE_FAILED", /idx: the index could not be written .*Nothing was changed/),
    );
    expect(await indexKind(out)).toBe("one");
  });
});

describe("a folder whose replacement was cut off by a kill", () => {
  /** Both folders beside the name, as between the two renames of a process that is dead. */
  async function halfReplaced(name: string, mark: string): Promise<string> {
    const folder = await freshFolder(name);
    const out = join(folder, "idx");
    await make(out, "old");
    await rename(out, `${out}.tmp-${mark}-replaced-0badcafe`);
    await make(join(folder, "new"), "new");
    await rename(join(folder, "new"), `${out}.tmp-${mark}`);
    return out;
  }

  it("opens: the finished one gets its name", async () => {
    const out = await halfReplaced("half", deadProcess());
    expect(await indexKind(out)).toBe("new");
    await make(out, "newer", true);
    expect(await readdir(join(root, "half"))).toEqual(["idx"]);
  });

  it("is not taken for nothing by the next build", async () => {
    const out = await halfReplaced("half-build", deadProcess());
    await expect(make(out, "other")).rejects.toThrow(errorWith("INDEX_EXISTS"));
    expect(await indexKind(out)).toBe("new");
  });

  it("is waited for while the process that replaces it lives", async () => {
    const out = await halfReplaced("half-alive", processMark());
    const kind = indexKind(out);
    await rename(`${out}.tmp-${processMark()}`, out);
    expect(await kind).toBe("new");
  });

  it("stays away when it was removed on purpose", async () => {
    const folder = await freshFolder("removed");
    const out = join(folder, "idx");
    await make(join(folder, "old"), "old");
    // Killed after both renames, before the old one was gone; then somebody removed the new one.
    await rename(join(folder, "old"), `${out}.tmp-${deadProcess()}-replaced-0badcafe`);
    await expect(indexKind(out)).rejects.toThrow(errorWith("INDEX_MISSING"));
    expect(existsSync(out)).toBe(false);
  });
});

describe("a manifest", () => {
  it("is one of its kind, or refused", async () => {
    const out = await freshFolder("kind");
    await writeManifest(out, { format: "agentrl-index", version: 2 });
    await expect(indexKind(out)).rejects.toThrow(errorWith("INDEX_CORRUPT", "has no kind"));
    await writeFile(manifestPath(out), "null");
    await expect(indexKind(out)).rejects.toThrow(errorWith("INDEX_CORRUPT", "is not an object"));
  });
});

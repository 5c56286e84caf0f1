// Disks that take no more: a tiny file system of its own where one can be mounted, and a limit on the size of files.
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { buildIndex } from "../../../src/retrieval/bm25/build-index.ts";
import {
  addToIndex,
  compactIndex,
  deleteFromIndex,
} from "../../../src/retrieval/bm25/change-index.ts";
import { checkIndex } from "../../../src/retrieval/bm25/check-index.ts";
import { readBm25Manifest } from "../../../src/retrieval/bm25/index-manifest.ts";
import { openIndex } from "../../../src/retrieval/bm25/open-index.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { filesUnder } from "../../helpers/index-files.ts";
import { madeCorpus } from "../../helpers/made-corpus.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const disk = join(folder, "disk");
const script = fileURLToPath(new URL("../../helpers/change-process.mjs", import.meta.url));

const mounted: string[] = [];

/** A file system in memory. @returns false where that is not allowed (only root may). */
function mount(path: string, size: string): boolean {
  mkdirSync(path, { recursive: true });
  if (process.platform !== "linux") return false;
  const done =
    spawnSync("mount", ["-t", "tmpfs", "-o", `size=${size}`, "tmpfs", path]).status === 0;
  if (done) mounted.push(path);
  return done;
}

afterAll(() => {
  for (const path of mounted) spawnSync("umount", [path]);
});

const canMount = mount(disk, "2m");
const reason = canMount ? "" : " (skipped: no file system can be mounted here)";
const small = madeCorpus({ count: 1500, seed: "small", prefix: "a" });
const large = madeCorpus({ count: 30_000, seed: "large", prefix: "b" });

describe.skipIf(!canMount)(`a full disk${reason}`, () => {
  const out = join(disk, "idx");
  const full = errorWith("FILE_WRITE_FAILED", /(no space left|ENOSPC).*Nothing was changed; free/i);

  it.each([0, 1])(
    "leaves nothing of a build that does not fit, with %i threads",
    async (threads) => {
      await expect(buildIndex(large, out, { threads })).rejects.toThrow(full);
      expect(await readdir(disk)).toEqual([]);
    },
  );

  it("costs nothing of an index that is added to, compacted, deleted from or replaced", async () => {
    const before = await buildIndex(small, out, { threads: 0 });
    const files = await filesUnder(out);
    for (const threads of [0, 1]) {
      await expect(addToIndex(out, large, { threads })).rejects.toThrow(full);
      expect(await filesUnder(out)).toEqual(files);
    }
    await expect(buildIndex(large, out, { threads: 0, overwrite: true })).rejects.toThrow(full);
    expect(await readBm25Manifest(out)).toEqual(before);
    // Not a byte is left.
    const filler = join(disk, "filler");
    expect(() => {
      writeFileSync(filler, Buffer.alloc(4 << 20));
    }).toThrow("ENOSPC");
    await expect(deleteFromIndex(out, ["a1", "a2"])).rejects.toThrow(full);
    rmSync(filler);
    await deleteFromIndex(out, ["a1", "a2"]);
    expect(() => {
      writeFileSync(filler, Buffer.alloc(4 << 20));
    }).toThrow("ENOSPC");
    await expect(compactIndex(out)).rejects.toThrow(full);
    expect((await checkIndex(out)).filter(({ ok }) => !ok)).toEqual([]);
    rmSync(filler);
    expect((await compactIndex(out)).corpus.passages).toBe(1498);
    expect(await readdir(disk)).toEqual(["idx"]);
  });
});

describe("a limit on the size of files", () => {
  it("is a disk that is full", async () => {
    const out = join(folder, "limited");
    const corpus = join(folder, "large.jsonl");
    writeFileSync(corpus, large.map((passage) => `${JSON.stringify(passage)}\n`).join(""));
    await buildIndex(small, out, { threads: 0 });
    const files = await filesUnder(out);
    for (const operation of ["add", "build"]) {
      const change = JSON.stringify({ operation, out, corpus });
      const { stdout } = spawnSync(
        "sh",
        ["-c", 'ulimit -f 500; exec "$0" "$@"', process.execPath, script, change],
        { encoding: "utf8" },
      );
      expect(stdout).toMatch(/^begin\nFILE_WRITE_FAILED .*EFBIG/);
      expect(await filesUnder(out)).toEqual(files);
      expect((await checkIndex(out)).filter(({ ok }) => !ok)).toEqual([]);
    }
  });
});

const locked = join(folder, "read-only");

describe.skipIf(!mount(locked, "8m"))(`a read-only disk${reason}`, () => {
  it("is searched and checked as ever, and not changed", async () => {
    const out = join(locked, "idx");
    await buildIndex(small, out, { threads: 0 });
    expect(spawnSync("mount", ["-o", "remount,ro", locked]).status).toBe(0);
    const index = await openIndex(out);
    expect((await index.search(["w1 w2"], 3))[0]).toHaveLength(3);
    await index.close();
    expect((await checkIndex(out)).filter(({ ok }) => !ok)).toEqual([]);
    const refused = errorWith("FILE_WRITE_FAILED", /EROFS.*Nothing was changed/);
    await expect(addToIndex(out, large, { threads: 0 })).rejects.toThrow(refused);
    await expect(deleteFromIndex(out, ["a1"])).rejects.toThrow(refused);
    await expect(compactIndex(out)).rejects.toThrow(refused);
    await expect(buildIndex(small, join(locked, "new"))).rejects.toThrow(refused);
    await expect(buildIndex(small, out, { overwrite: true })).rejects.toThrow(refused);
  });
});

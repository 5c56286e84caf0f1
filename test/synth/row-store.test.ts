import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openRowStore } from "../../src/synth/row-files.ts";
import { errorWith } from "../helpers/error-with.ts";

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), "rows-"))));
afterEach(() => {
  rmSync(folder, { recursive: true });
});

describe("openRowStore", () => {
  it("gives rows back in any order, and leaves nothing", async () => {
    const path = join(folder, "rows.tmp");
    const store = await openRowStore(path);
    const first = await store.add("Málaga\n");
    const second = await store.add(`${"x".repeat(1 << 20)}\n`);
    const third = await store.add("Oslo\n");
    expect((await store.read(third)).toString()).toBe("Oslo\n");
    expect((await store.read(second)).length).toBe((1 << 20) + 1);
    expect((await store.read(first)).toString()).toBe("Málaga\n");
    await store.close();
    expect(existsSync(path)).toBe(false);
  });

  it("says that a folder cannot be written to", async () => {
    await expect(openRowStore(join(folder, "gone", "rows.tmp"))).rejects.toThrow(
      errorWith("FILE_WRITE_FAILED", /ENOENT.*run agentrl synth-data select again/),
    );
  });

  it.runIf(existsSync("/dev/full"))("says so where the disk is full", async () => {
    // Never closed: closing removes the file.
    const store = await openRowStore("/dev/full");
    await expect(store.add("x".repeat(1 << 20))).rejects.toThrow(
      errorWith("FILE_WRITE_FAILED", /ENOSPC/),
    );
  });
});

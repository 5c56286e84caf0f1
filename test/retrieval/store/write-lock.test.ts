import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { isAlive, processMark } from "../../../src/base/folder-lock.ts";
import { withWriteLock } from "../../../src/retrieval/store/replace-folder.ts";
import { deadProcess } from "../../helpers/dead-process.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const root = temporaryFolder();
const lockModule = new URL("../../../dist/retrieval/store/replace-folder.js", import.meta.url).href;

function freshFolder(name: string): string {
  const folder = join(root, name);
  mkdirSync(folder);
  return folder;
}

/** A process of its own that takes the lock, says so, and keeps it. */
async function lockingProcess(folder: string) {
  const code = `
    const { withWriteLock } = await import(${JSON.stringify(lockModule)});
    await withWriteLock(${JSON.stringify(folder)}, () => new Promise(() => {
      console.log("locked");
      setInterval(() => {}, 1000);
    }));`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", code]);
  await once(child.stdout, "data");
  return {
    kill: async () => {
      child.kill("SIGKILL");
      await once(child, "exit");
    },
  };
}

describe("withWriteLock", () => {
  it("gives what the work gives, and leaves no trace, failed or not", async () => {
    const folder = freshFolder("trace");
    const inside = await withWriteLock(folder, () => Promise.resolve(readdirSync(folder)));
    expect(inside).toEqual(["write.lock"]);
    await expect(withWriteLock(folder, () => Promise.reject(new Error("no")))).rejects.toThrow(
      "no",
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it("lets one of many callers in at a time", async () => {
    const folder = freshFolder("many");
    let inside = 0;
    let most = 0;
    const work = async (): Promise<void> => {
      inside += 1;
      most = Math.max(most, inside);
      await new Promise((resolve) => setImmediate(resolve));
      inside -= 1;
    };
    const all = Array.from({ length: 20 }, () => withWriteLock(folder, work));
    const results = await Promise.allSettled(all);
    expect(most).toBe(1);
    expect(results.filter(({ status }) => status === "fulfilled").length).toBeGreaterThan(0);
  });

  it("refuses while another process has it, and takes it over once that is killed", async () => {
    const folder = freshFolder("process");
    const other = await lockingProcess(folder);
    const attempt = withWriteLock(folder, () => Promise.resolve());
    await expect(attempt).rejects.toThrow(
      errorWith("INDEX_BUSY", /is changing this index\. Wait until it is done; .*write\.lock/),
    );
    expect(readdirSync(folder)).toEqual(["write.lock"]);
    await other.kill();
    expect(await withWriteLock(folder, () => Promise.resolve("mine"))).toBe("mine");
    expect(readdirSync(folder)).toEqual([]);
  });

  it("takes over what a process left that died while it took the lock", async () => {
    const folder = freshFolder("half");
    mkdirSync(join(folder, "write.lock"));
    const own = join(folder, `write.lock.${deadProcess()}`);
    mkdirSync(own);
    writeFileSync(join(own, "anything"), "");
    await withWriteLock(folder, () => Promise.resolve());
    expect(readdirSync(folder)).toEqual([]);
  });

  it("respects a lock of another machine, which it cannot look into", async () => {
    const folder = freshFolder("machine");
    mkdirSync(join(folder, "write.lock"));
    writeFileSync(join(folder, "write.lock/elsewhere.1-01234567"), "");
    await expect(withWriteLock(folder, () => Promise.resolve())).rejects.toThrow(
      errorWith("INDEX_BUSY", "process elsewhere.1-01234567 is changing this index"),
    );
  });
});

describe("isAlive", () => {
  it("knows its own process from one that had its number, and the dead from the living", () => {
    expect(isAlive(processMark())).toBe(true);
    expect(isAlive(`${hostname()}.${process.pid}-00000000`)).toBe(false);
    expect(isAlive(deadProcess())).toBe(false);
    expect(isAlive(`${hostname()}.1-00000000`)).toBe(true);
    expect(isAlive("no mark")).toBe(true);
  });
});

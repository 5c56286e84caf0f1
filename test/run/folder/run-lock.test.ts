import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { withRunLock } from "../../../src/run/folder/run-lock.ts";
import { deadProcess } from "../../helpers/dead-process.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const root = temporaryFolder();
const entered = (folder: string): Promise<string> =>
  withRunLock(folder, () => Promise.resolve("in"));

/** A folder with a lock that a mark holds; `started` as its process wrote it. */
function lockedFolder(name: string, mark: string, started = ""): string {
  const folder = join(root, name);
  mkdirSync(join(folder, "run.lock"), { recursive: true });
  writeFileSync(join(folder, "run.lock", mark), started);
  return folder;
}

describe("withRunLock", () => {
  it("makes the folder, lets one in at a time, and leaves no trace", async () => {
    const folder = join(root, "new", "run");
    await withRunLock(folder, async () => {
      expect(readdirSync(folder)).toEqual(["run.lock"]);
      await expect(entered(folder)).rejects.toThrow(
        errorWith("RUN_BUSY", `process ${process.pid} on ${hostname()} is writing this run`),
      );
    });
    // Nothing was written.
    expect(existsSync(folder)).toBe(false);
    mkdirSync(folder);
    await entered(folder);
    expect(readdirSync(folder)).toEqual([]);
  });

  it("takes over the lock of a process that is gone", async () => {
    expect(await entered(lockedFolder("dead", deadProcess()))).toBe("in");
  });

  it("takes over the lock of a process whose number another one has now", async () => {
    const child = spawn(process.execPath, ["-e", "setTimeout(() => {}, 60000)"]);
    await once(child, "spawn");
    const mark = `${hostname()}.${child.pid ?? 0}-0123abcd`;
    const before = "00000000-0000-0000-0000-000000000000 17";
    await expect(entered(lockedFolder("same", mark))).rejects.toThrow(errorWith("RUN_BUSY"));
    const taken = process.platform === "linux" ? "in" : "RUN_BUSY";
    const outcome = await entered(lockedFolder("other", mark, before)).catch(() => "RUN_BUSY");
    child.kill();
    expect(outcome).toBe(taken);
  });

  it("keeps to the lock of another machine, and says what to remove where that is gone", async () => {
    const folder = lockedFolder("far", "elsewhere.7-0123abcd");
    await expect(entered(folder)).rejects.toThrow(
      errorWith(
        "RUN_BUSY",
        /process 7 on elsewhere .*if that machine is gone, remove .*run\.lock\./,
      ),
    );
  });

  it("ends work whose folder is moved away, while it goes on and when it ends", async () => {
    const gone = errorWith("RUN_FOLDER_GONE", "Put it back, in place of what is there now");
    const folder = join(root, "moved");
    const endless = withRunLock(folder, () => {
      renameSync(folder, join(root, "elsewhere"));
      return new Promise(() => undefined);
    });
    await expect(endless).rejects.toThrow(gone);
    const brief = withRunLock(folder, () => {
      rmSync(folder, { recursive: true });
      return Promise.resolve();
    });
    await expect(brief).rejects.toThrow(gone);
  });

  it("says so where the folder cannot be made", async () => {
    const file = join(root, "file");
    writeFileSync(file, "");
    await expect(entered(join(file, "run"))).rejects.toThrow(
      errorWith("FILE_WRITE_FAILED", "Choose another --out"),
    );
  });
});

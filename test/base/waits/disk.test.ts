import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync } from "node:fs";
import { open } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { readText, writeFileAtomic } from "../../../src/base/files.ts";
import { openJsonl } from "../../../src/base/jsonl.ts";
import { defaultDeadlines, milliseconds } from "../../../src/base/waits/deadlines.ts";
import { onDisk, setDiskDeadline } from "../../../src/base/waits/disk.ts";
import { hasStuckThreads } from "../../../src/base/waits/stuck-threads.ts";
import { waits } from "../../../src/base/waits/waits.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();

afterEach(() => {
  setDiskDeadline(milliseconds(defaultDeadlines.diskSeconds));
});

/** A pipe that nobody writes to: opening it hangs a thread, as a disk that is gone does. @returns how it is let go. */
function hangingFile(name: string): { path: string; letGo: () => Promise<void> } {
  const path = join(folder, name);
  execFileSync("mkfifo", [path]);
  const letGo = async (): Promise<void> => {
    closeSync(openSync(path, constants.O_RDWR | constants.O_NONBLOCK));
    const writer = await open(path, constants.O_RDWR);
    await writer.close();
    await new Promise((resolve) => setTimeout(resolve, 50));
  };
  return { path, letGo };
}

describe("a disk that does not answer", () => {
  it("ends the read of a file with its path and since when, and is told of before", async () => {
    const { path, letGo } = hangingFile("gone.json");
    const told: string[] = [];
    const watch = waits.watch({ noticeMs: 100, onLong: (message) => told.push(message) });
    setDiskDeadline(300);
    try {
      await expect(readText(path)).rejects.toThrow(
        errorWith(
          "DISK_STALLED",
          /gone\.json: the disk has not answered for 3\d\d ms, since [\d:]{8} \(read\)\./,
        ),
      );
      expect(told[0]).toMatch(
        /^waiting \d+ ms: disk for .*gone\.json \(read\), since [\d:]{8}; deadline 300 ms$/,
      );
      expect(hasStuckThreads()).toBe(true);
    } finally {
      watch.close();
      await letGo();
    }
    expect(hasStuckThreads()).toBe(false);
  });

  it("ends the opening of a log", async () => {
    const { path, letGo } = hangingFile("metrics.jsonl");
    setDiskDeadline(100);
    try {
      await expect(openJsonl(path)).rejects.toThrow(errorWith("DISK_STALLED", "(open)"));
    } finally {
      const reader = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
      await new Promise((resolve) => setTimeout(resolve, 50));
      await reader.close();
      await letGo();
    }
  });

  it("is waited for as long as it takes where there is no deadline", async () => {
    setDiskDeadline(null);
    await writeFileAtomic(join(folder, "a.txt"), "a");
    expect(await readText(join(folder, "a.txt"))).toBe("a");
    expect(waits.size).toBe(0);
  });

  it("gives one operation's own answer when it comes in time", async () => {
    await expect(onDisk("x", "read", () => Promise.resolve(3), { deadlineMs: 5 })).resolves.toBe(3);
  });
});

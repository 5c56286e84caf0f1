import { execFileSync } from "node:child_process";
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  makeFolder,
  readJson,
  readText,
  sha256,
  sha256File,
  writeAtomic,
  writeFileAtomic,
  writeJson,
} from "../../src/base/files.ts";
import { deadProcess } from "../helpers/dead-process.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();

describe("writeFileAtomic", () => {
  it("makes the folders on the way and leaves no temporary file", async () => {
    const path = join(folder, "a", "b", "note.txt");
    await writeFileAtomic(path, "one");
    await writeFileAtomic(path, "two");
    expect(readFileSync(path, "utf8")).toBe("two");
    expect(readdirSync(join(folder, "a", "b"))).toEqual(["note.txt"]);
  });

  it("keeps what was there when producing the new content fails", async () => {
    const path = join(folder, "kept.txt");
    await writeFileAtomic(path, "old");
    const failing = writeAtomic(path, async (write) => {
      await write("half");
      throw new RangeError("stopped");
    });
    await expect(failing).rejects.toThrow(RangeError);
    expect(readFileSync(path, "utf8")).toBe("old");
    expect(readdirSync(folder).filter((name) => name.includes("tmp"))).toEqual([]);
  });

  it("removes what a killed process left of the same file, and that of a living one not", async () => {
    const path = join(folder, "left", "note.txt");
    mkdirSync(join(folder, "left"));
    const [dead, far] = [`note.txt.tmp-${deadProcess()}`, "note.txt.tmp-elsewhere.1-0123abcd"];
    for (const name of [dead, far]) writeFileSync(join(folder, "left", name), "half");
    await writeFileAtomic(path, "whole");
    expect(readdirSync(join(folder, "left")).sort()).toEqual(["note.txt", far]);
  });

  it("says which file could not be written", async () => {
    mkdirSync(join(folder, "occupied"));
    const failing = writeFileAtomic(join(folder, "occupied"), "x");
    await expect(failing).rejects.toMatchObject({
      code: "FILE_WRITE_FAILED",
      message: expect.stringContaining("occupied: could not be written") as string,
    });
  });
});

describe.skipIf(process.platform === "win32")("what is there already", () => {
  it("is written where it is a pipe, instead of put out of the way", async () => {
    mkdirSync(join(folder, "pipes"));
    const pipe = join(folder, "pipes", "pipe");
    execFileSync("mkfifo", [pipe]);
    const [read] = await Promise.all([readFile(pipe, "utf8"), writeFileAtomic(pipe, "through")]);
    expect(read).toBe("through");
    expect(lstatSync(pipe).isFIFO()).toBe(true);
    expect(readdirSync(join(folder, "pipes"))).toEqual(["pipe"]);
  });

  it("stays a link, and what it leads to is written", async () => {
    mkdirSync(join(folder, "far"));
    const [file, link] = [join(folder, "far", "file"), join(folder, "link")];
    writeFileSync(file, "old");
    symlinkSync(file, link);
    await writeFileAtomic(link, "new");
    expect(readlinkSync(link)).toBe(file);
    expect(readFileSync(file, "utf8")).toBe("new");
    expect(readdirSync(join(folder, "far"))).toEqual(["file"]);
  });
});

describe("makeFolder", () => {
  it("says of several who make one folder at once that one made it", async () => {
    const path = join(folder, "x", "y", "z");
    const made = await Promise.all(Array.from({ length: 8 }, () => makeFolder(path)));
    expect(made.filter(Boolean)).toHaveLength(1);
    expect(await makeFolder(path)).toBe(false);
  });

  it("says of a file that it is in the way", async () => {
    writeFileSync(join(folder, "file"), "");
    await expect(makeFolder(join(folder, "file"))).rejects.toThrow("EEXIST");
    await expect(makeFolder(join(folder, "file", "a", "b"))).rejects.toThrow("ENOTDIR");
  });

  it.skipIf(process.platform !== "linux")("ends where no folder can ever be made", async () => {
    await expect(makeFolder("/proc/agentrl/a/b")).rejects.toThrow("ENOENT");
  });
});

describe("readJson", () => {
  it("reads back what writeJson wrote, two spaces deep with a final newline", async () => {
    const path = join(folder, "value.json");
    await writeJson(path, { a: [1] });
    expect(readFileSync(path, "utf8")).toBe('{\n  "a": [\n    1\n  ]\n}\n');
    expect(await readJson(path)).toEqual({ a: [1] });
  });

  it("passes a byte-order mark over, which Windows writes", async () => {
    writeFileSync(join(folder, "marked.json"), '\uFEFF{"a":1}\r\n');
    expect(await readJson(join(folder, "marked.json"))).toEqual({ a: 1 });
  });

  it("tells a missing file from one that does not parse", async () => {
    const path = join(folder, "bad.json");
    writeFileSync(path, "{");
    await expect(readJson(path)).rejects.toMatchObject({ code: "FILE_NOT_JSON" });
    await expect(readText(join(folder, "none"))).rejects.toMatchObject({ code: "FILE_MISSING" });
  });
});

describe("sha256", () => {
  it("gives the digest of the standard's example, from text and from a file", async () => {
    // FIPS 180-4, message "abc".
    const digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    const path = join(folder, "abc");
    writeFileSync(path, "abc");
    expect(sha256("abc")).toBe(digest);
    expect(await sha256File(path)).toBe(digest);
  });
});

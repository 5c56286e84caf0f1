import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { random } from "../../src/base/random.ts";
import { extractMember } from "../../src/data/cards/extract-member.ts";
import { zipOf } from "../helpers/archives.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const at = (name: string): string => join(folder, name);
const draw = random("content");
const content = Buffer.from(Array.from({ length: 300_000 }, () => 97 + draw.int(6)));
const files = new Map([
  ["__MACOSX/data/dev.json", Buffer.from("not this")],
  ["data/my-dev.json", Buffer.from("nor this")],
  ["data/dev.json", content],
  ["data/empty.json", Buffer.alloc(0)],
]);

async function extracted(archive: string, member: string): Promise<Buffer> {
  await extractMember(at(archive), member, at("out"));
  return readFile(at("out"));
}

describe("extractMember", () => {
  it.each([
    ["deflated", {}],
    ["stored", { stored: true }],
    ["as large archives are", { long: true }],
  ])("takes a file out of a zip, %s", async (_, options) => {
    await writeFile(at("a.zip"), zipOf(files, options));
    expect((await extracted("a.zip", "dev.json")).equals(content)).toBe(true);
    expect((await extracted("a.zip", "data/my-dev.json")).toString()).toBe("nor this");
    expect(await extracted("a.zip", "empty.json")).toHaveLength(0);
  });

  it("takes a file out of what tar writes: GNU's long names, POSIX's, packed or not", async () => {
    const deep = `${"long-folder-name/".repeat(12)}data`;
    mkdirSync(at(deep), { recursive: true });
    await writeFile(at(`${deep}/dev.json`), content);
    await writeFile(at(`${deep}/a.json`), "first");
    for (const format of ["gnu", "pax", "ustar"]) {
      const names =
        format === "ustar" ? ["-C", at(deep), "a.json", "dev.json"] : ["-C", folder, deep];
      execFileSync("tar", [`--format=${format}`, "-cf", at("t.tar"), ...names]);
      expect((await extracted("t.tar", "dev.json")).equals(content), format).toBe(true);
      await writeFile(at("t.tar.gz"), gzipSync(await readFile(at("t.tar"))));
      expect((await extracted("t.tar.gz", "dev.json")).equals(content), format).toBe(true);
      expect((await extracted("t.tar.gz", "a.json")).toString()).toBe("first");
    }
  });

  it("says when there is no such file", async () => {
    await writeFile(at("b.zip"), zipOf(files));
    await expect(extracted("b.zip", "v.json")).rejects.toThrow(
      errorWith("DATASET_ARCHIVE", /b\.zip: .* "v\.json"\. .* --source\.$/),
    );
    await expect(extracted("t.tar.gz", "v.json")).rejects.toThrow(errorWith("DATASET_ARCHIVE"));
  });

  it("says when an archive is cut, changed or none, and writes nothing", async () => {
    const whole = zipOf(files, { stored: true });
    const changed = Buffer.from(whole);
    changed[whole.indexOf(content.subarray(0, 50)) + 1000]! ^= 1;
    const beyond = Buffer.from(whole);
    const directory = Buffer.from("PK\u0001\u0002");
    for (
      let entry = beyond.indexOf(directory);
      entry >= 0;
      entry = beyond.indexOf(directory, entry + 1)
    )
      beyond.writeUInt32LE(0x7fffffff, entry + 42);
    const tar = await readFile(at("t.tar"));
    const damaged: [string, Buffer][] = [
      ["cut.zip", whole.subarray(0, whole.length - 1000)],
      ["changed.zip", changed],
      ["beyond.zip", beyond],
      ["none.zip", Buffer.from("<html>")],
      ["cut.tar", tar.subarray(0, 100_000)],
      ["cut.tar.gz", gzipSync(tar).subarray(0, 50_000)],
      ["none.tar", Buffer.alloc(2000, "x")],
    ];
    for (const [name, bytes] of damaged) {
      await writeFile(at(name), bytes);
      await expect(extractMember(at(name), "dev.json", at("never")), name).rejects.toThrow(
        errorWith("DATASET_ARCHIVE", name),
      );
    }
    await expect(readFile(at("never"))).rejects.toThrow("ENOENT");
  });
});

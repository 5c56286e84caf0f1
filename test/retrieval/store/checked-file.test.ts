import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { random } from "../../../src/base/random.ts";
import {
  crcHex,
  type FileEntry,
  memoryFile,
  openCheckedFile,
  PAGE_BYTES,
  createFile,
  memoryWriter,
} from "../../../src/retrieval/store/checked-file.ts";
import { errorWith } from "../../helpers/error-with.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();

function noise(bytes: number): Uint8Array {
  const draw = random(bytes);
  return Uint8Array.from({ length: bytes }, () => draw.int(256));
}

/** Writes content in pieces of these sizes, over and over. */
function write(path: string, content: Uint8Array, pieces: number[] = [content.length]): FileEntry {
  const out = createFile(path);
  for (let at = 0, i = 0; at < content.length; i++) {
    const size = pieces[i % pieces.length]!;
    out.append(content.subarray(at, at + size));
    at += size;
  }
  expect(out.bytes).toBe(content.length);
  return out.finish();
}

const equal = (left: Uint8Array, right: Uint8Array): boolean => Buffer.from(left).equals(right);

describe("a checked file", () => {
  it.each([0, 1, PAGE_BYTES - 1, PAGE_BYTES, PAGE_BYTES + 1, 3 * PAGE_BYTES, (1 << 20) + 5])(
    "of %i bytes gives back every range as it was written",
    (bytes) => {
      const path = join(folder, `size-${bytes}`);
      const content = noise(bytes);
      const file = openCheckedFile(path, write(path, content));
      expect(file.bytes).toBe(bytes);
      const draw = random(`ranges ${bytes}`);
      const borders = [0, 1, PAGE_BYTES - 1, PAGE_BYTES, PAGE_BYTES + 1, bytes - 1, bytes];
      const places = borders.filter((at) => at >= 0 && at <= bytes);
      for (let i = 0; i < 10; i++) places.push(draw.int(bytes + 1));
      for (const from of places) {
        for (const to of places.filter((at) => at >= from)) {
          expect(equal(file.read(from, to), content.subarray(from, to))).toBe(true);
        }
      }
      file.close();
    },
  );

  it("is the same however the content was cut, several MiB included", () => {
    const content = noise(5 * (1 << 20) + 1234);
    const whole = write(join(folder, "whole"), content);
    const cut = write(join(folder, "cut"), content, [1, 4096, 3 << 20, 77_777, 0, 1 << 20]);
    expect(cut).toEqual(whole);
    expect(equal(readFileSync(join(folder, "cut")), readFileSync(join(folder, "whole")))).toBe(
      true,
    );
    const file = openCheckedFile(join(folder, "cut"), cut);
    expect(equal(file.read(0, content.length), content)).toBe(true);
    file.close();
  });

  it("keeps the content as it is, with a checksum per page behind it", () => {
    const path = join(folder, "layout");
    const content = noise(PAGE_BYTES + 10);
    const { bytes, checksum } = write(path, content);
    const written = readFileSync(path);
    expect(bytes).toBe(PAGE_BYTES + 10);
    expect(equal(written.subarray(0, bytes), content)).toBe(true);
    const table = written.subarray(bytes);
    expect(table).toHaveLength(8);
    expect(table.readUInt32LE(0).toString(16).padStart(8, "0")).toBe(
      crcHex(content.subarray(0, PAGE_BYTES)),
    );
    expect(checksum).toBe(crcHex(table));
    // The check value of CRC-32 (IEEE 802.3).
    expect(crcHex(Buffer.from("123456789"))).toBe("cbf43926");
  });

  it("gives views that typed arrays can be laid over, at the offset's own alignment", () => {
    const path = join(folder, "aligned");
    const file = openCheckedFile(path, write(path, noise(3 * PAGE_BYTES)));
    for (const from of [8, PAGE_BYTES - 8, PAGE_BYTES + 16, 2 * PAGE_BYTES]) {
      const { buffer, byteOffset } = file.read(from, from + 8);
      expect(byteOffset % 8).toBe(0);
      expect(new Float64Array(buffer, byteOffset, 1)).toHaveLength(1);
    }
    file.close();
  });

  it("refuses a page that has changed, and only that one", () => {
    const path = join(folder, "changed");
    const content = noise(3 * PAGE_BYTES + 100);
    const entry = write(path, content);
    const bytes = readFileSync(path);
    bytes[PAGE_BYTES + 17]! ^= 1;
    writeFileSync(path, bytes);
    const file = openCheckedFile(path, entry);
    expect(equal(file.read(0, PAGE_BYTES), content.subarray(0, PAGE_BYTES))).toBe(true);
    expect(equal(file.read(2 * PAGE_BYTES, 3 * PAGE_BYTES), content.subarray(8192, 12288))).toBe(
      true,
    );
    expect(() => file.read(PAGE_BYTES - 1, PAGE_BYTES + 1)).toThrow(
      errorWith(
        "INDEX_CORRUPT",
        `${path}: bytes 4096 to 8192 were modified. Build the index again`,
      ),
    );
    file.close();
  });

  it("refuses to open when its table, its length or the file is not what was written", () => {
    const path = join(folder, "table");
    const entry = write(path, noise(2 * PAGE_BYTES));
    const open = (changes: Partial<FileEntry>) => () =>
      openCheckedFile(path, { ...entry, ...changes });
    expect(open({ checksum: "00000000" })).toThrow(
      errorWith("INDEX_CORRUPT", "table of checksums"),
    );
    expect(open({ bytes: 2 * PAGE_BYTES + 1 })).toThrow(errorWith("INDEX_CORRUPT", "ends at byte"));
    expect(open({ bytes: PAGE_BYTES })).toThrow(errorWith("INDEX_CORRUPT", "is longer than"));
    expect(() => openCheckedFile(join(folder, "absent"), entry)).toThrow(
      errorWith("INDEX_CORRUPT", "cannot be read"),
    );
  });
});

describe("createFile", () => {
  it("never writes over a file", () => {
    const path = join(folder, "there");
    writeFileSync(path, "kept");
    expect(() => createFile(path)).toThrow("EEXIST");
    expect(readFileSync(path, "utf8")).toBe("kept");
  });

  it("makes the folder, and may be abandoned at any time", () => {
    const out = createFile(join(folder, "a/b/c"));
    out.append(noise(10));
    out.abandon();
    out.abandon();
    expect(() => out.finish()).toThrow("closed");
  });
});

describe("memoryWriter", () => {
  it("collects what a file would hold", () => {
    const out = memoryWriter();
    const content = noise(5000);
    out.append(content.subarray(0, 10));
    out.append(content.subarray(10));
    expect(out.bytes).toBe(5000);
    expect(equal(memoryFile(out.take()).read(5, 4000), content.subarray(5, 4000))).toBe(true);
  });
});

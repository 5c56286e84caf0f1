import { truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openGguf } from "../../../src/models/gguf/gguf-file.ts";
import { errorWith } from "../../helpers/error-with.ts";
import type { ErrorCode } from "../../../src/base/errors.ts";
import { ggufBytes, type GgufTensorBytes } from "../../helpers/gguf-bytes.ts";
import { temporaryFolder } from "../../helpers/temporary-folder.ts";

const folder = temporaryFolder();
const path = join(folder, "file.gguf");

async function numbers(type: number, dims: readonly number[], data: Uint8Array): Promise<number[]> {
  await writeFile(path, ggufBytes({}, [{ name: "x", dims, type, data }]));
  const file = await openGguf(path);
  const into = new Float32Array(dims.reduce((n, axis) => n * axis, 1));
  await file.read("x", into);
  await file.close();
  return [...into];
}

async function refused(
  bytes: Uint8Array,
  message: string,
  code: ErrorCode = "GGUF_BAD",
): Promise<void> {
  await writeFile(path, bytes);
  await expect(openGguf(path)).rejects.toThrow(errorWith(code, message));
}

/** 0.5 as a half. */
const HALF = [0x00, 0x38];
const tensor = (
  name: string,
  bytes: number,
  more: Partial<GgufTensorBytes> = {},
): GgufTensorBytes => ({ name, dims: [bytes / 4], type: 0, data: new Uint8Array(bytes), ...more });

describe("openGguf", () => {
  it("dequantises by hand: four bits around 8, and around a least number", async () => {
    // Byte i: number i in the low bits, number i + 16 in the high bits.
    const bytes = Array.from({ length: 16 }, (_, i) => i | ((15 - i) << 4));
    const low = Array.from({ length: 16 }, (_, i) => i);
    const all = [...low, ...low.toReversed()];
    const centred = await numbers(2, [32], Uint8Array.from([...HALF, ...bytes]));
    expect(centred).toEqual(all.map((each) => 0.5 * (each - 8)));
    // −1 as a half.
    const least = [0x00, 0xbc];
    const raised = await numbers(3, [32], Uint8Array.from([...HALF, ...least, ...bytes]));
    expect(raised).toEqual(all.map((each) => 0.5 * each - 1));
  });

  it("reads tensors that are larger than its buffer", async () => {
    // 3 · 40 000 numbers of 34 bytes per 32.
    const block = Uint8Array.from([...HALF, ...Array.from({ length: 32 }, (_, i) => i)]);
    const data = Buffer.concat(Array.from({ length: 3 * 1250 * 8 }, () => block));
    const found = await numbers(8, [10_000 * 32, 3], data);
    expect(found).toHaveLength(960_000);
    expect(found.every((each, i) => each === 0.5 * (i % 32))).toBe(true);
  });

  it("reads all kinds of metadata, and shapes outer axis first", async () => {
    const metadata = {
      "general.name": "größer",
      count: 7,
      is: true,
      none: false,
      rate: { float: 0.5 },
      words: ["a", "b c", ""],
      nested: [[1, 2], [3]],
    };
    await writeFile(path, ggufBytes(metadata, [tensor("x", 24, { dims: [3, 2] })], 2));
    const file = await openGguf(path);
    await file.close();
    const expected = { ...metadata, rate: 0.5 };
    expect(Object.fromEntries(file.metadata)).toEqual(expected);
    expect(file.tensors.get("x")).toMatchObject({ shape: [2, 3], byteLength: 24 });
  });

  it("reads metadata that are longer than its first read", async () => {
    const words = Array.from({ length: 600_000 }, (_, i) => `word ${i}`);
    await writeFile(path, ggufBytes({ words, last: 5 }));
    const file = await openGguf(path);
    await file.close();
    expect(file.metadata.get("last")).toBe(5);
    expect(file.metadata.get("words")).toEqual(words);
  });

  it("refuses other files, saying what is at their start", async () => {
    await refused(Buffer.from("pickle and more"), 'begins with "pick", not with "GGUF"');
    await refused(
      Buffer.from("GG"),
      "is truncated or damaged: the magic number needs 4 bytes at byte 0",
    );
    await refused(ggufBytes({}, [], 1), "has version 1 at byte 4; supported: 2 and 3");
    await refused(ggufBytes({}, [], 0x0300_0000), "(big-endian)");
    await expect(openGguf(join(folder, "none.gguf"))).rejects.toThrow(
      errorWith("FILE_MISSING", "none.gguf"),
    );
  });

  it("refuses a file cut anywhere, saying where and what is missing", async () => {
    const bytes = ggufBytes({ "general.name": "name", words: ["a", "b"] }, [
      tensor("first", 64),
      tensor("last", 64),
    ]);
    const dataStart = bytes.length - 128;
    for (let length = 0; length < bytes.length; length += 5) {
      await writeFile(path, bytes.subarray(0, length));
      await expect(openGguf(path)).rejects.toThrow(errorWith("GGUF_BAD", "is truncated"));
    }
    await refused(
      bytes.subarray(0, dataStart + 100),
      `is truncated: "last" [16] F32 needs 64 bytes at byte ${dataStart + 64}, but the file ends at byte ${dataStart + 100}`,
    );
    await refused(bytes.subarray(0, 40), "the key of metadata value 0 needs 12 bytes");
  });

  it("refuses counts and nesting that no file has, and pointers of Git LFS", async () => {
    const counts = Buffer.alloc(24);
    counts.write("GGUF");
    counts.writeUInt32LE(3, 4);
    counts.writeBigUInt64LE(2n ** 60n, 8);
    await refused(counts, "the name of tensor 0 needs 8 bytes at byte 24");
    counts.writeBigUInt64LE(0n, 8);
    counts.writeBigUInt64LE(2n ** 64n - 1n, 16);
    await refused(counts, "the key of metadata value 0 needs 8 bytes at byte 24");
    const deep = Buffer.alloc(12 * 100_000);
    for (let at = 0; at < deep.length; at += 12) {
      deep.writeUInt32LE(9, at);
      deep.writeBigUInt64LE(1n, at + 4);
    }
    const metadata = ggufBytes({ deep: [[1]] });
    await refused(
      Buffer.concat([metadata.subarray(0, 24 + 8 + 4 + 4), deep]),
      "nests lists more than 4 deep",
    );
    const pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
    await refused(Buffer.from(pointer), "is a Git LFS pointer", "FILE_FORMAT");
  });

  it("reads no NaN and no infinity, of a stored number or of a block's scale", async () => {
    const nothing = [0, 0, 0xc0, 0x7f];
    const infinite = [0x00, 0x7c, ...Array.from({ length: 32 }, () => 1)];
    for (const [type, dims, data] of [
      [0, [2], [0, 0, 0, 0, ...nothing]],
      [1, [1], [0x00, 0xfe]],
      [30, [1], [0xc0, 0x7f]],
      [8, [32], infinite],
    ] as const) {
      await expect(numbers(type, dims, Uint8Array.from(data))).rejects.toThrow(
        errorWith("WEIGHT_NOT_FINITE", '"x"'),
      );
    }
  });

  it("says when the file is cut while it is open", async () => {
    await writeFile(path, ggufBytes({}, [tensor("x", 4096)]));
    const file = await openGguf(path);
    await truncate(path, 1000);
    const reading = file.read("x", new Float32Array(1024));
    await expect(reading).rejects.toThrow(
      errorWith("GGUF_BAD", "was truncated during the read, at byte 1000"),
    );
    await file.close();
  });

  it("refuses types, shapes and places that it cannot read, with the tensor and the byte", async () => {
    await refused(
      ggufBytes({}, [tensor("x", 84, { dims: [256], type: 10 })]),
      '"x" is Q2_K (byte 45); supported: F32, F16, Q4_0, Q4_1, Q5_0, Q5_1, Q8_0, Q4_K, Q5_K, Q6_K, BF16',
    );
    await refused(ggufBytes({}, [tensor("x", 4, { type: 99 })]), '"x" is type 99');
    await refused(
      ggufBytes({}, [tensor("x", 40, { dims: [40, 2], type: 8 })]),
      '"x" [2, 40] is Q8_0, but its rows of 40 are not whole blocks of 32',
    );
    await refused(
      ggufBytes({}, [tensor("x", 4, { dims: [1, 1, 1, 1, 1] })]),
      '"x" has 5 axes at byte 33',
    );
    await refused(ggufBytes({}, [tensor("x", 32), tensor("x", 32)]), 'contains "x" twice');
    await refused(
      ggufBytes({ "general.alignment": 3 }),
      "has general.alignment 3; expected a multiple of 8",
    );
  });

  it("refuses damaged counts and offsets without allocating what they say", async () => {
    const bytes = ggufBytes({ words: ["a"] }, [tensor("x", 32)]);
    const count = bytes.indexOf("words") + 5 + 4 + 4;
    const many = Buffer.from(bytes);
    many.writeBigUInt64LE(2n ** 50n, count);
    await refused(many, `"words" needs ${2 ** 53} bytes at byte ${count + 8}`);
    const unknown = Buffer.from(bytes);
    unknown.writeUInt32LE(13, count - 8);
    await refused(unknown, `"words" has the unknown value type 13 at byte ${count - 8}`);
    const moved = Buffer.from(bytes);
    moved.writeBigUInt64LE(32n, bytes.indexOf("x", count + 9) + 1 + 4 + 8 + 4);
    await refused(moved, 'is damaged: "x" should start at byte');
    const twice = Buffer.from(ggufBytes({ ab: 1, cd: 2 }));
    twice.write("ab", twice.indexOf("cd"));
    await refused(twice, 'has the metadata key "ab" twice, again at byte 42');
  });
});

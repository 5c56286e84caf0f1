import { readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ErrorCode } from "../../src/base/errors.ts";
import {
  openSafetensors,
  readSafetensors,
  writeSafetensors,
} from "../../src/models/safetensors.ts";
import { errorWith } from "../helpers/error-with.ts";
import { temporaryFolder } from "../helpers/temporary-folder.ts";
import { naming } from "../helpers/naming.ts";

const folder = temporaryFolder();

async function roundTrip(numbers: number[], dtype: "F32" | "F16" | "BF16"): Promise<number[]> {
  const path = join(folder, `${dtype}.safetensors`);
  const data = Float32Array.from(numbers);
  await writeSafetensors(path, [{ name: "x", shape: [numbers.length], data }], dtype);
  return [...(await readSafetensors(path)).get("x")!.data];
}

/** A file with a header of one's own and so many bytes after it. */
async function handMade(name: string, header: string, bytes: number): Promise<string> {
  const path = join(folder, name);
  const prefix = Buffer.alloc(8);
  prefix.writeBigUInt64LE(BigInt(Buffer.byteLength(header)));
  await writeFile(path, Buffer.concat([prefix, Buffer.from(header), Buffer.alloc(bytes)]));
  return path;
}

function withoutFolder(error: unknown): string {
  return (error as Error).message.replaceAll(folder, "");
}

/** The message of the refusal, whose code must be this one. */
async function failure(path: string, code: ErrorCode = "SAFETENSORS_BAD"): Promise<string> {
  const error: unknown = await readSafetensors(path).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code });
  return withoutFolder(error);
}

describe("safetensors", () => {
  it("keeps float32 to the bit", async () => {
    const numbers = [0, -0, 1.5, Math.fround(0.1), 3.4e38, 1e-45];
    const back = await roundTrip(numbers, "F32");
    expect(back).toEqual(numbers.map(Math.fround));
    expect(Object.is(back[1], -0)).toBe(true);
  });

  it("keeps what a half can hold, subnormals too", async () => {
    // 2⁻²⁴ is the smallest subnormal, 1023 · 2⁻²⁴ the largest, 2⁻¹⁴ the smallest normal, 65504 the largest.
    const exact = [0, -0, 1, -2.5, 2 ** -24, 1023 * 2 ** -24, 2 ** -14, 65504, -65504];
    const back = await roundTrip(exact, "F16");
    expect(back).toEqual(exact);
    expect(Object.is(back[1], -0)).toBe(true);
  });

  it("reads numbers of 16 bits as they are stored, and rounds others", async () => {
    const bitsOf = async (stored: "F32" | "F16" | "BF16", type: "F16" | "BF16") => {
      const path = join(folder, `half-${stored}.safetensors`);
      // 1 + 2⁻⁷ is exact in both types, 1 + 2⁻¹⁰ in float16 alone.
      const data = Float32Array.of(1, -2, 1 + 2 ** -7, 1 + 2 ** -10);
      await writeSafetensors(path, [{ name: "x", shape: [2, 2], data }], stored);
      const file = await openSafetensors(path);
      const bits = new Uint16Array(4);
      await file.readHalf("x", { type, bits });
      await file.close();
      return [...bits];
    };
    const half = [0x3c00, 0xc000, 0x3c08, 0x3c01];
    const bfloat = [0x3f80, 0xc000, 0x3f81, 0x3f80];
    expect(await bitsOf("F16", "F16")).toEqual(half);
    expect(await bitsOf("F32", "F16")).toEqual(half);
    expect(await bitsOf("BF16", "F16")).toEqual([...half.slice(0, 3), 0x3c00]);
    expect(await bitsOf("BF16", "BF16")).toEqual(bfloat);
    expect(await bitsOf("F32", "BF16")).toEqual(bfloat);
  });

  it("rounds to float16 what is no more than half a step beyond it, and refuses the rest", async () => {
    const path = join(folder, "large.safetensors");
    const tensors = [65_519, 65_520].map((each) => {
      return { name: String(each), shape: [2], data: Float32Array.of(-1, each) };
    });
    await writeSafetensors(path, tensors, "F32");
    const file = await openSafetensors(path);
    const bits = new Uint16Array(2);
    await file.readHalf("65519", { type: "F16", bits });
    expect([...bits]).toEqual([0xbc00, 0x7bff]);
    await expect(file.readHalf("65520", { type: "F16", bits })).rejects.toThrow(
      errorWith("WEIGHT_TOO_LARGE", '"65520" contains 65520'),
    );
    await file.readHalf("65520", { type: "BF16", bits });
    await file.close();
  });

  it("rounds halves to the nearest, ties to even", async () => {
    // Between 1 and 2 the grid is 2⁻¹⁰ = e: 1 + e/2 ties down to 1 (even), 1 + 3e/2 up to 1 + 2e; 2048 + 1 ties to 2048.
    const e = 2 ** -10;
    expect(
      await roundTrip([1 + e / 2, 1 + (3 * e) / 2, 1 + 0.51 * e, 2049, 2051, 2 - e / 2], "F16"),
    ).toEqual([1, 1 + 2 * e, 1 + e, 2048, 2052, 2]);
    // Subnormals: half of the smallest ties to 0, one and a half to 2; just under the smallest normal carries into it.
    const tiny = 2 ** -24;
    expect(await roundTrip([tiny / 2, 1.5 * tiny, 0.51 * tiny, 1023.5 * tiny], "F16")).toEqual([
      ...[0, 2 * tiny, tiny, 2 ** -14],
    ]);
    expect(await roundTrip([65519, 1e-30], "F16")).toEqual([65504, 0]);
  });

  it("rounds bfloat16 to the nearest, ties to even", async () => {
    // Seven fraction bits: between 1 and 2 the grid is 2⁻⁷ = e.
    const e = 2 ** -7;
    expect(await roundTrip([1 + e / 2, 1 + (3 * e) / 2, 1 + 0.51 * e], "BF16")).toEqual([
      ...[1, 1 + 2 * e, 1 + e],
    ]);
    // The smallest subnormal is 2⁻¹³³: half of it ties to 0, two and a half to 2.
    const tiny = 2 ** -133;
    expect(await roundTrip([tiny, tiny / 2, 2.5 * tiny, -tiny], "BF16")).toEqual([
      ...[tiny, 0, 2 * tiny, -tiny],
    ]);
    expect(await roundTrip([-0, 3.39e38], "BF16")).toEqual([-0, 2 ** 128 - 2 ** 120]);
  });

  it("writes no number that its dtype rounds to infinity", async () => {
    // 65520 is the tie to 2¹⁶, and 3.4e38 lies beyond the upper half step of the largest bfloat16.
    for (const [dtype, large] of [["F16", 65_520] as const, ["BF16", -3.4e38] as const]) {
      await expect(roundTrip([1, large], dtype)).rejects.toThrow(
        errorWith("WEIGHT_TOO_LARGE", `"x" contains ${Math.fround(large)}`),
      );
    }
  });

  it("reads no NaN and no infinity, wherever it is and whatever the dtypes", async () => {
    const path = join(folder, "damaged.safetensors");
    const length = 300_001;
    for (const [dtype, bits] of Object.entries({
      F32: [0x7f80_0000, 0xff80_0000, 0x7fc0_0000, 0x7f80_0001],
      F16: [0x7c00, 0xfc00, 0x7e00, 0x7c01],
      BF16: [0x7f80, 0xff80, 0x7fc0, 0x7f81],
    })) {
      for (const [i, at] of [0, 1, 262_144, length - 1].entries()) {
        const numbers = dtype === "F32" ? new Uint32Array(length) : new Uint16Array(length);
        numbers.fill(dtype === "F32" ? 0x3f80_0000 : 0x3c00);
        numbers[at] = bits[i]!;
        const offsets = [0, numbers.byteLength];
        const header = JSON.stringify({ x: { dtype, shape: [length], data_offsets: offsets } });
        const prefix = Buffer.alloc(8);
        prefix.writeBigUInt64LE(BigInt(header.length));
        const bytes = [prefix, Buffer.from(header), Buffer.from(numbers.buffer)];
        await writeFile(path, Buffer.concat(bytes));
        const said = errorWith("WEIGHT_NOT_FINITE", `"x" [${length}] at index ${at}`);
        await expect(readSafetensors(path)).rejects.toThrow(said);
        const file = await openSafetensors(path);
        for (const type of ["F16", "BF16"] as const) {
          const half = { type, bits: new Uint16Array(length) };
          await expect(file.readHalf("x", half)).rejects.toThrow(said);
        }
        await file.close();
      }
    }
  });

  it("says that a file is a pointer of Git LFS, or a folder", async () => {
    const path = join(folder, "pointer.safetensors");
    await writeFile(path, `version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n`);
    await expect(readSafetensors(path)).rejects.toThrow(
      errorWith("FILE_FORMAT", "is a Git LFS pointer"),
    );
    await expect(readSafetensors(folder)).rejects.toThrow(errorWith("FILE_MISSING", "a folder"));
  });

  it("keeps names, shapes and order, and pads its header to eight bytes", async () => {
    const path = join(folder, "several.safetensors");
    const tensors = [
      { name: "b", shape: [2, 3], data: Float32Array.of(1, 2, 3, 4, 5, 6) },
      { name: "ä", shape: [], data: Float32Array.of(7) },
      { name: "empty", shape: [0, 4], data: new Float32Array() },
    ];
    await writeSafetensors(path, tensors, "F32", { step: "3" });
    expect([...(await readSafetensors(path)).values()]).toEqual(tensors);
    const bytes = await readFile(path);
    const size = Number(bytes.readBigUInt64LE());
    expect(size % 8).toBe(0);
    expect(JSON.parse(bytes.subarray(8, 8 + size).toString())).toMatchInlineSnapshot(`
      {
        "__metadata__": {
          "format": "pt",
          "step": "3",
        },
        "b": {
          "data_offsets": [
            0,
            24,
          ],
          "dtype": "F32",
          "shape": [
            2,
            3,
          ],
        },
        "empty": {
          "data_offsets": [
            28,
            28,
          ],
          "dtype": "F32",
          "shape": [
            0,
            4,
          ],
        },
        "ä": {
          "data_offsets": [
            24,
            28,
          ],
          "dtype": "F32",
          "shape": [],
        },
      }
    `);
  });

  it("says where a file is cut", async () => {
    const path = join(folder, "whole.safetensors");
    await writeSafetensors(path, [{ name: "x", shape: [4], data: new Float32Array(4) }], "F32");
    const bytes = await readFile(path);
    await writeFile(join(folder, "cut"), bytes.subarray(0, -1));
    await writeFile(join(folder, "stump"), bytes.subarray(0, 20));
    await writeFile(join(folder, "nothing"), "");
    expect(await failure(join(folder, "cut"))).toMatch(naming("/cut: is", '"x"', "[4]", "16"));
    expect(await failure(join(folder, "stump"))).toMatch(naming("/stump: is", "20"));
    expect(await failure(join(folder, "nothing"))).toMatch(naming("/nothing: is", "0"));
    expect(await failure(join(folder, "missing"), "FILE_MISSING")).toContain("cannot be read");
  });

  it("refuses tensors that overlap, or leave bytes between or after them", async () => {
    const two = (a: [number, number], b: [number, number]): string => {
      const entry = (offsets: [number, number]): object => {
        return { dtype: "F32", shape: [(offsets[1] - offsets[0]) / 4], data_offsets: offsets };
      };
      return JSON.stringify({ b: entry(b), a: entry(a) });
    };
    const cases = [
      ["overlapping", two([0, 8], [4, 12]), 12],
      ["same-place", two([0, 8], [0, 8]), 8],
      ["gap", two([0, 8], [12, 16]), 16],
      ["late", two([4, 8], [8, 12]), 12],
      ["tail", two([0, 8], [8, 12]), 20],
    ] as const;
    const messages = await Promise.all(
      cases.map(async ([name, header, bytes]) => failure(await handMade(name, header, bytes))),
    );
    expect(messages).toMatchInlineSnapshot(`
      [
        "/overlapping: its header is damaged: "b" at byte 120 overlaps "a", which ends at 124. Download or save the file again.",
        "/same-place: its header is damaged: "a" at byte 115 overlaps "b", which ends at 123. Download or save the file again.",
        "/gap: its header is damaged: bytes 125 to 129 belong to no tensor. Download or save the file again.",
        "/late: its header is damaged: bytes 116 to 120 belong to no tensor. Download or save the file again.",
        "/tail: is damaged: bytes 128 to 136 belong to no tensor. Download or save the file again.",
      ]
    `);
  });

  it("reads one tensor at a time, whatever the others are", async () => {
    const header = JSON.stringify({
      steps: { dtype: "I64", shape: [1], data_offsets: [0, 8] },
      x: { dtype: "F32", shape: [2], data_offsets: [8, 16] },
    });
    const file = await openSafetensors(await handMade("mixed", header, 16));
    const into = Float32Array.of(1, 2, 3);
    await file.read("x", into.subarray(1));
    expect([...into]).toEqual([1, 0, 0]);
    const { at, byteLength } = file.tensors.get("x")!;
    expect([at, byteLength]).toEqual([8 + header.length + 8, 8]);
    const refused = file.read("steps", into);
    await expect(refused).rejects.toThrow(errorWith("SAFETENSORS_BAD", '"steps" is I64'));
    await file.close();
  });

  it("reads halves that are longer than one piece", async () => {
    const path = join(folder, "long.safetensors");
    const data = Float32Array.from({ length: 2 ** 17 + 5 }, (_, i) => i % 251);
    await writeSafetensors(path, [{ name: "x", shape: [data.length], data }], "BF16");
    const back = (await readSafetensors(path)).get("x")!.data;
    expect(back).toHaveLength(data.length);
    expect(back.every((each, i) => each === data[i])).toBe(true);
  });

  it("says when a file was cut after it was opened", async () => {
    const path = join(folder, "shrinking.safetensors");
    await writeSafetensors(path, [{ name: "x", shape: [4], data: new Float32Array(4) }], "F32");
    const file = await openSafetensors(path);
    await truncate(path, 90);
    const reading = file.read("x", new Float32Array(4));
    await expect(reading).rejects.toThrow(errorWith("SAFETENSORS_BAD", "was truncated"));
    await file.close();
  });

  it("refuses a header that is none, a size that does not fit and a type that it does not read", async () => {
    const entry = (dtype: string, shape: number[], end: number): string =>
      JSON.stringify({ x: { dtype, shape, data_offsets: [0, end] } });
    const cases = [
      ["prose", "{ this is prose }", 0],
      ["list", '{"x": [1, 2]}', 0],
      ["wrong-size", entry("F32", [3], 8), 8],
      ["integers", entry("I64", [1], 8), 8],
      ["unheard-of", entry("F6", [1], 8), 8],
    ] as const;
    const messages = await Promise.all(
      cases.map(async ([name, header, bytes]) => failure(await handMade(name, header, bytes))),
    );
    expect(messages).toMatchInlineSnapshot(`
      [
        "/prose: its header is not a safetensors header. Download or save the file again.",
        "/list: its header is not a safetensors header. Download or save the file again.",
        "/wrong-size: is cut or damaged: "x" [3] needs 12 bytes at 0. Download or save the file again.",
        "/integers: "x" is I64; supported: F32, F16, BF16. Download or save the file again.",
        "/unheard-of: "x" is F6; supported: F32, F16, BF16. Download or save the file again.",
      ]
    `);
  });
});

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import * as records from "../../src/watch/reporters/wandb/records.ts";

// wandb.json is made by reporters/wandb.py with wandb's own messages and writer.
const theirs = JSON.parse(
  readFileSync(new URL("reporters/wandb.json", import.meta.url), "utf8"),
) as { file: string; long: string; longTexts: number[]; longBytes: number };

function fileOf(contents: readonly Buffer[]): Buffer {
  return contents.reduce<Buffer>(
    (file, content) => Buffer.concat([file, records.framed(content, file.length)]),
    records.FILE_HEADER,
  );
}

const run = { id: "1a2b3c4d", project: "p", displayName: "n", isResumed: false,
  config: { seed: 1, "a.b": "ü" }, at: 1_700_000_000_250,
};
const row = { "losses/kl": NaN, "a/b": 0.5, c: -Infinity, d: 1e-7 };

describe("records of W&B's offline runs", () => {
  it("equal the bytes that wandb itself writes", () => {
    const file = fileOf([
      records.headerRecord(1, "0.1.0"),
      records.runRecord(2, run),
      records.historyRecord(3, 300, row),
      records.summaryRecord(4, row),
      records.alertRecord(5, "alarm", "step 300: ü", "warn"),
      records.exitRecord(6, 130, 7),
      records.finalRecord(7),
    ]);
    expect(file.toString("hex")).toBe(theirs.file);
  });

  it("are split at the blocks of 32 KB as wandb splits them", () => {
    const alerts = theirs.longTexts.map((size, index) =>
      records.alertRecord(index + 1, "t", "x".repeat(size), "info"),
    );
    const file = fileOf(alerts);
    expect(file.length).toBe(theirs.longBytes);
    expect(createHash("sha256").update(file).digest("hex")).toBe(theirs.long);
  });

  it("begin with the header of a small record, checked by hand", () => {
    // num 7 (tag 8), final (tag 162 1: field 20) of length 0; 5 bytes, type 1 (full).
    const framed = records.framed(records.finalRecord(7), 7);
    expect(framed.subarray(4).toString("hex")).toBe("0500" + "01" + "0807" + "a20100");
  });
});

describe("framed", () => {
  const typesIn = (framed: Buffer, offset: number): number[] => {
    const types: number[] = [];
    for (let at = 0; at < framed.length;) {
      const left = 32_768 - ((offset + at) % 32_768);
      if (left < 7) at += left;
      types.push(framed[at + 6]!);
      at += 7 + framed.readUInt16LE(at + 4);
    }
    return types;
  };

  it.each([
    ["one chunk where it just fits", 7, 32_768 - 14, [1]],
    ["first and last where it is a byte too long", 7, 32_768 - 13, [2, 4]],
    ["a middle chunk for every whole block between", 7, 90_000, [2, 3, 4]],
    ["an empty first chunk where only a header fits", 32_768 - 7, 3, [2, 4]],
    ["padding where not even a header fits", 32_768 - 6, 3, [1]],
  ])("gives %s", (_, offset, length, types) => {
    expect(typesIn(records.framed(Buffer.alloc(length), offset), offset)).toEqual(types);
  });
});

import { describe, expect, it } from "vitest";
import {
  fixed,
  formatBytes,
  formatCount,
  formatDuration,
  formatMilliseconds,
  formatP,
  formatPercent,
  formatShare,
  rounded,
  shorten,
  shortNumber,
  signed,
} from "../../src/base/format.ts";

const cases: [name: string, format: (value: number) => string, numbers: number[], texts: string][] =
  [
    ["fixed", fixed(2), [0.125, -0.5, -0.001, NaN], "0.13 −0.50 0.00 –"],
    ["signed", signed(3), [0.25, -0.25, 0.0001, -0.0001, 0], "+0.250 −0.250 0.000 0.000 0.000"],
    ["count", formatCount, [7, 999, 1000, 21_015_324, 4999.7], "7 999 1,000 21,015,324 5,000"],
    ["percent", formatPercent, [0, 0.056, 0.5, 0.995, 1], "0 % 5.6 % 50 % 99.5 % 100 %"],
    ["p", formatP, [0.00001, 0.0123, 1], "<.0001 .0123 1.0000"],
    ["share", formatShare, [0.9137, 1, 0, -0.5], ".914 1.00 .000 −.500"],
    [
      "short",
      shortNumber,
      [2522.99, 0.12486, 0.5, 1.5e-13, 0, -3.14159],
      "2,523 0.125 0.500 1.5e−13 0 −3.14",
    ],
    ["rounded", rounded, [0.5, 2 / 3, 1, -0.25], "0.5 0.667 1 −0.25"],
    [
      ...(["bytes", formatBytes] as const),
      [0, 999, 1000, 12_345_678, 999_960, 14e9, 3.2e12],
      "0 B 999 B 1.0 kB 12.3 MB 1.0 MB 14.0 GB 3.2 TB",
    ],
    [
      ...(["duration", formatDuration] as const),
      [0.04, 9.96, 59.4, 59.6, 200, 2700, 7300],
      "0.0 s 10 s 59 s 1 min 0 s 3 min 20 s 45 min 2 h 1 min",
    ],
    [
      ...(["milliseconds", formatMilliseconds] as const),
      [0.0412, 3.456, 45.67, 2345.6],
      "0.041 ms 3.46 ms 45.7 ms 2346 ms",
    ],
  ];

describe("numbers for people", () => {
  it.each(cases)("%s", (_, format, numbers, texts) => {
    expect(numbers.map((value) => format(value)).join(" ")).toBe(texts);
  });

  it("cuts a text that is too long for its place", () => {
    expect([shorten("a\n long text", 6), shorten("short", 6)]).toEqual(["a lon…", "short"]);
  });
});

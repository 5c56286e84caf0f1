import { describe, expect, it } from "vitest";
import { bytesText, countText, millisecondsText, secondsText } from "../../src/cli/amounts.ts";

describe("amounts for people", () => {
  it("are short and have units", () => {
    expect([0, 999, 1000, 12_345_678, 999_960, 14e9, 3.2e12].map(bytesText)).toEqual([
      "0 B",
      "999 B",
      "1.0 kB",
      "12.3 MB",
      "1.0 MB",
      "14.0 GB",
      "3.2 TB",
    ]);
    expect([0.04, 75, 600, 7300].map(secondsText)).toEqual(["0.0 s", "75.0 s", "10 min", "2.0 h"]);
    expect([0.0412, 3.456, 45.67, 2345.6].map(millisecondsText)).toEqual([
      "0.041 ms",
      "3.46 ms",
      "45.7 ms",
      "2346 ms",
    ]);
    expect([7, 999, 1000, 21_015_324, 4999.7].map(countText)).toEqual([
      "7",
      "999",
      "1 000",
      "21 015 324",
      "5 000",
    ]);
  });
});

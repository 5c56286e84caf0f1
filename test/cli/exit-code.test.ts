import { describe, expect, it } from "vitest";
import {
  ConfigError,
  DataError,
  ExternalError,
  InternalError,
  RolloutError,
  ScoreError,
  ShapeError,
} from "../../src/base/errors.ts";
import { exitCodeOf, isKnown } from "../../src/cli/exit-code.ts";

describe("exitCodeOf", () => {
  it("says who must act", () => {
    const codes = [
      new ConfigError("USAGE", ""),
      new DataError("FILE_MISSING", ""),
      new ExternalError("FILE_WRITE_FAILED", ""),
      new RolloutError("FILE_MISSING", ""),
      new ScoreError("SCORE_MISSED", ""),
      new ScoreError("SCORE_UNAVAILABLE", ""),
      new ExternalError("ENGINE_STALLED", ""),
    ].map(exitCodeOf);
    expect(codes).toEqual([2, 3, 4, 4, 5, 6, 7]);
  });

  it("takes everything else for a bug of ours", () => {
    const bugs = [
      new ShapeError("PART_TWICE", ""),
      new InternalError("PART_TWICE", ""),
      new TypeError("x"),
      "x",
    ];
    expect(bugs.map(exitCodeOf)).toEqual([1, 1, 1, 1]);
    expect(bugs.some(isKnown)).toBe(false);
  });
});

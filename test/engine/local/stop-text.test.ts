import { describe, expect, it } from "vitest";
import { stopText } from "../../../src/engine/local/stop-text.ts";

/** Index of the piece that completes a stop string; −1 when none does. */
function stopsAt(strings: string[], pieces: (string | number[])[]): number {
  const stop = stopText(strings);
  const encoder = new TextEncoder();
  return pieces.findIndex((piece) =>
    stop.push(typeof piece === "string" ? encoder.encode(piece) : Uint8Array.from(piece)),
  );
}

describe("a stop string", () => {
  it("is found inside a piece, at its end, and across several", () => {
    expect(stopsAt(["</search>"], ["a", "b</search>c"])).toBe(1);
    expect(stopsAt(["</search>"], ["</", "sea", "rch", ">"])).toBe(3);
    expect(stopsAt(["</search>"], ["x</sea", "rch>y", "z"])).toBe(1);
  });

  it("is found after a false start", () => {
    expect(stopsAt(["aab"], ["a", "a", "a", "b"])).toBe(3);
    expect(stopsAt(["</s>"], ["</", "</", "s", "s>", "</s", ">"])).toBe(5);
  });

  it("may be one of several of any length", () => {
    expect(stopsAt(["long stop", "b"], ["a", "b", "c"])).toBe(1);
    expect(stopsAt(["b", "long stop"], ["a", "long", " ", "stop"])).toBe(3);
    expect(stopsAt(["x"], ["aaa", "b", "x"])).toBe(2);
  });

  it("may be a character whose bytes come one by one", () => {
    // 雪 is e9 9b aa.
    expect(stopsAt(["雪"], [[0xe9], [0x9b], [0xaa]])).toBe(2);
    expect(stopsAt(["a雪"], ["a", [0xe9], [0x9b, 0xaa]])).toBe(2);
  });

  it("stops nothing when there is none", () => {
    expect(stopsAt([], ["a", "b"])).toBe(-1);
  });
});

import { describe, expect, it } from "vitest";
import { firstAnswerAt } from "../../src/trajectory/trajectory.ts";

const said = (...texts: string[]) => ({
  turns: texts.map((text) => ({ call: 0, text, actions: [], problems: [], observations: [] })),
});

describe("firstAnswerAt", () => {
  it("is the share of all messages before the first answer", () => {
    const pair = "<think>abc</think><answer>d</answer>";
    expect(firstAnswerAt(said(pair))).toBe(0.5);
    expect(firstAnswerAt(said(pair + pair))).toBe(0.25);
    expect(firstAnswerAt(said(pair.slice(0, 18), pair.slice(18)))).toBe(0.5);
  });

  it("is null without an answer", () => {
    expect(firstAnswerAt(said("<think>abc</think>"))).toBeNull();
    expect(firstAnswerAt(said())).toBeNull();
  });
});

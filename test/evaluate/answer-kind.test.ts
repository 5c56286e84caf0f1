import { describe, expect, it } from "vitest";
import { answerKind } from "../../src/evaluate/metrics/answer-metrics.ts";

describe("answerKind", () => {
  it.each([
    ["Is Oslo in Norway?", ["Yes."], "yes-no"],
    ["Which is older, the Tin Sea or Bergen?", ["Tin Sea"], "in-question"],
    ["Who wrote it?", ["Ada Roth", "it"], "in-question"],
    ["Who founded Oslo?", ["Oslovian"], "open"],
    ["Who knows?", ["Nobody"], "open"],
  ] as const)("%s %j: %s", (question, references, kind) => {
    expect(answerKind(question, references)).toBe(kind);
  });
});

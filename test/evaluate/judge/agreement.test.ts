import { describe, expect, it } from "vitest";
import { agreementOf, type VerdictPair } from "../../../src/evaluate/judge/agreement.ts";
import { humanAgreement, ruleVerdicts } from "../../../src/evaluate/judge/human-verdicts.ts";
import { wilsonInterval } from "../../../src/evaluate/statistics.ts";

const pairs = (text: string): VerdictPair[] =>
  text
    .split(" ")
    .map((pair, i) => ({ question: String(i), expected: pair[0] === "+", given: pair[1] === "+" }));

describe("agreement", () => {
  it("is counted beside what chance gives", () => {
    // 4 right, 2 wrong by the human; the judge rejects one right and accepts one wrong.
    const found = agreementOf(pairs("++ ++ ++ +- -+ --"), { seed: 0 });
    expect(found.n).toBe(6);
    expect(found.accuracy).toMatchObject({ count: 4, n: 6, ci95: wilsonInterval(4, 6) });
    // By chance: (4 · 4 + 2 · 2) / 36 = 5/9; (2/3 − 5/9) / (1 − 5/9) = 1/4.
    expect(found.kappa).toBeCloseTo(0.25, 12);
    expect(found.falseAccept).toMatchObject({ count: 1, n: 2, rate: 0.5 });
    expect(found.falseReject).toMatchObject({ count: 1, n: 4, rate: 0.25 });
  });

  it("is 1 when all verdicts are equal, and below 0 when it is worse than chance", () => {
    expect(agreementOf(pairs("++ -- ++"), { seed: 0 }).kappa).toBe(1);
    expect(agreementOf(pairs("+- -+"), { seed: 0 }).kappa).toBe(-1);
  });

  it("has no kappa where both say the same of everything, and no rate of what is not there", () => {
    const found = agreementOf(pairs("++ ++"), { seed: 0 });
    expect(found).toMatchObject({ kappa: null, kappaCi95: null });
    expect(found.falseAccept).toEqual({ count: 0, n: 0, rate: null, ci95: null });
    expect(agreementOf([], { seed: 0 })).toMatchObject({ n: 0, kappa: null });
  });

  it("has the same intervals for the same seed, around its figures", () => {
    const many = pairs("++ ++ ++ +- -+ -- -- ++ -- ++ +- --");
    const found = agreementOf(many, { seed: 3 });
    expect(agreementOf(many, { seed: 3 })).toEqual(found);
    const [low, high] = found.kappaCi95!;
    expect(low).toBeLessThan(found.kappa!);
    expect(high).toBeGreaterThan(found.kappa!);
  });

  it("draws questions with all their verdicts, so that copies make nothing surer", () => {
    const once = pairs("++ ++ ++ +- -+ -- -- ++ -- ++ +- --");
    const copied = [...once, ...once, ...once, ...once];
    const width = ({ kappaCi95 }: { kappaCi95: [number, number] | null }) =>
      kappaCi95![1] - kappaCi95![0];
    const single = agreementOf(once, { seed: 0 });
    const clustered = agreementOf(copied, { seed: 0 });
    expect(width(clustered)).toBe(width(single));
    expect(clustered.shareIntervals).toBe("bootstrap");
    expect(agreementOf(copied.slice(0, 1), { seed: 0 }).shareIntervals).toBe("wilson");
    const [low, high] = clustered.accuracy.ci95!;
    expect(high - low).toBeGreaterThan(wilsonInterval(36, 48)[1] - wilsonInterval(36, 48)[0]);
  });
});

describe("agreement with humans", () => {
  it("is told per system, without what was not evaluated", () => {
    const humans = [
      { system: "a", human: true },
      { system: "b", human: true },
      { system: "a", human: false },
    ].map((each) => ({ ...each, question: "q", references: ["x"], prediction: "x" }));
    const found = humanAgreement(humans, [true, null, true], { seed: 0 });
    expect(found.notEvaluated).toBe(1);
    expect(found.all.n).toBe(2);
    expect(found.systems["a"]?.accuracy.rate).toBe(0.5);
    expect(found.systems["b"]?.accuracy.rate).toBeNull();
  });
});

describe.each([
  ["em", "The Oslo", "Oslo, Norway"],
  ["f1>=0.5", "Oslo city", "the city of Oslo in Norway there"],
  ["cover_em", "It is Oslo.", "Bergen"],
  ["token_cover", "(Oslo) it is", "Osloer"],
])("the rule %s", (name, accepted, rejected) => {
  it(`accepts "${accepted}" for Oslo, not "${rejected}"`, () => {
    const rule = ruleVerdicts.get(name, "test");
    expect(rule.accepts({ references: ["Lima", "Oslo"], prediction: accepted })).toBe(true);
    expect(rule.accepts({ references: ["Lima", "Oslo"], prediction: rejected })).toBe(false);
  });
});

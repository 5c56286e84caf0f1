import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sha256File } from "../../src/base/files.ts";
import { type Agreement, agreementOf } from "../../src/evaluate/judge/agreement.ts";
import { humanAgreement, humanVerdictLayouts, ruleVerdicts } from "../../src/evaluate/judge/human-verdicts.ts";

interface Measured {
  n: number;
  accuracy: number;
  accuracyCi95?: [number, number];
  kappa: number;
  falseAccept: [number, number];
  falseReject: [number, number];
}

interface Golden {
  tolerance: number;
  evouna: { sha256: string; rules: Record<string, Record<string, Measured>> };
  madeUp: { human: string; given: string; kappa: number }[];
}

const golden = JSON.parse(
  await readFile(new URL("judge-agreement.json", import.meta.url), "utf8"),
) as Golden;
const file = join(import.meta.dirname, "../../../shared/data/judge/evouna-triviaqa.json");
const absent = !existsSync(file);

function expectNear(found: number | null | undefined, expected: number): void {
  expect(found).not.toBeNull();
  expect(Math.abs((found ?? Number.NaN) - expected)).toBeLessThanOrEqual(golden.tolerance);
}

function expectMeasured(found: Agreement, expected: Measured): void {
  expect(found.n).toBe(expected.n);
  expectNear(found.accuracy.rate, expected.accuracy);
  expectNear(found.kappa, expected.kappa);
  expect([found.falseAccept.count, found.falseAccept.n]).toEqual(expected.falseAccept);
  expect([found.falseReject.count, found.falseReject.n]).toEqual(expected.falseReject);
  expected.accuracyCi95?.forEach((end, i) => {
    expectNear(found.accuracy.ci95?.[i], end);
  });
}

describe("agreement of verdicts", () => {
  it("has scikit-learn's kappa", () => {
    for (const { human, given, kappa } of golden.madeUp) {
      const pairs = Array.from(human).map((expected, i) => ({
        question: String(i),
        expected: expected === "1",
        given: given[i] === "1",
      }));
      expectNear(agreementOf(pairs, { seed: 0 }).kappa, kappa);
    }
  });
});

const title = absent
  ? "string metrics beside humans on EvOUNA (skipped: ../shared/data is not here)"
  : "string metrics beside humans on EvOUNA";

describe.skipIf(absent)(title, () => {
  it.each(ruleVerdicts.names)("agree as computed in Python: %s", async (name) => {
    expect(await sha256File(file)).toBe(golden.evouna.sha256);
    const { verdicts, improper } = await humanVerdictLayouts.get("evouna", "test").read(file);
    expect([verdicts.length, improper]).toEqual([9690, 62]);
    const rule = ruleVerdicts.get(name, "test");
    const given = verdicts.map((verdict) => rule.accepts(verdict));
    const { all, systems } = humanAgreement(verdicts, given, { seed: 0 });
    const { all: expectedAll, ...expected } = golden.evouna.rules[name] ?? {};
    expectMeasured(all, expectedAll!);
    expect(Object.keys(systems)).toEqual(Object.keys(expected));
    for (const [system, each] of Object.entries(expected)) expectMeasured(systems[system]!, each);
  });
});

import { lintRules } from "./index.ts";
import { type LintUnit, readingOf, readLine } from "./lint-lines.ts";
import type { LintReading } from "./lint-reading.ts";

/** A broken rule at one place. */
export interface Violation {
  /** Of the trajectory, sample or pair; null: of the line, or of the whole run. */
  id: string | null;
  line: number | null;
  code: string;
  message: string;
}

/** Result for a file. */
export interface LintReport {
  checked: number;
  counts: Record<string, number>;
  /** In the order found; at most `keep` of each code. */
  violations: Violation[];
  /** Trajectories that a rule could not check, by code. */
  unknown: Record<string, number>;
}

/** A file being checked. Memory holds the report and the ids of the lines. */
export interface Lint {
  line(value: unknown, number: number): LintUnit[];
  add(violation: Violation): void;
  report(): LintReport;
}

/** Checks trajectories against all rules. @param options.keep most violations of one code that are kept; all are counted. */
export function openLint(reading: LintReading, { keep }: { keep: number }): Lint {
  const seen = new Map<string, number>();
  const report: LintReport = { checked: 0, counts: {}, violations: [], unknown: {} };
  const add = (violation: Violation): void => {
    const { code } = violation;
    const count = (report.counts[code] ?? 0) + 1;
    report.counts[code] = count;
    if (count <= keep) report.violations.push(violation);
  };
  const checkUnit = (unit: LintUnit, line: number): boolean => {
    const own = readingOf(unit, reading);
    let isSound = true;
    for (const rule of lintRules.parts) {
      const found = rule.find(unit.trajectory, own);
      if (found === null) report.unknown[rule.name] = (report.unknown[rule.name] ?? 0) + 1;
      for (const message of found ?? []) {
        isSound = false;
        add({ id: unit.id, line, code: rule.name, message });
      }
    }
    return isSound;
  };
  return {
    add,
    report: () => report,
    line(value, number) {
      const { units, ids, findings } = readLine(value);
      for (const finding of findings) add({ line: number, ...finding });
      for (const id of ids) {
        const first = seen.get(id);
        if (first === undefined) seen.set(id, number);
        else {
          const message = `is also the id of line ${first}.`;
          add({ id, line: number, code: "id-twice", message });
        }
      }
      return units.filter((unit) => {
        report.checked += 1;
        return checkUnit(unit, number);
      });
    },
  };
}

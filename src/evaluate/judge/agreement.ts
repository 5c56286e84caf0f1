import { random } from "../../base/random.ts";
import { type Interval, percentileInterval, share, type Share } from "../statistics.ts";

/** One answer with its reference verdict and the measured verdict. */
export interface VerdictPair {
  /** Verdicts of one question are not independent: intervals draw questions, with all their verdicts. */
  question: string;
  /** The reference: a human's, or another source's. */
  expected: boolean;
  given: boolean;
}

/** Agreement of two sources of verdicts. */
export interface Agreement {
  n: number;
  /** Method of the shares' intervals: Wilson's if every question has one verdict, else a bootstrap over questions. */
  shareIntervals: "wilson" | "bootstrap";
  accuracy: Share;
  /** Cohen's kappa: agreement beyond what the two shares of "correct" give by chance. null if chance explains all. */
  kappa: number | null;
  kappaCi95: Interval | null;
  /** Share of the wrong answers (by the reference) that were accepted. */
  falseAccept: Share;
  /** Share of the right answers (by the reference) that were rejected. */
  falseReject: Share;
}

type Cells = { bothRight: number; falseAccept: number; falseReject: number; bothWrong: number };

const RESAMPLES = 2000;

/**
 * Agreement of verdicts. With one verdict per question shares have Wilson's intervals, else bootstrap intervals over questions.
 * Source: J. Cohen, "A coefficient of agreement for nominal scales", 1960.
 * @example 2 right and 1 wrong answer, one right one rejected: accuracy 2/3, kappa (2/3 − 4/9) / (1 − 4/9) = 0.4
 */
export function agreementOf(pairs: readonly VerdictPair[], { seed }: { seed: number }): Agreement {
  const groups = new Map<string, Cells>();
  for (const { question, expected, given } of pairs) {
    const cells = groups.get(question) ?? emptyCells();
    cells[cellOf(expected, given)] += 1;
    groups.set(question, cells);
  }
  const questions = [...groups.values()];
  const all = sum(questions);
  const drawn = bootstrap(questions, seed);
  const clustered = questions.length < pairs.length;
  const shareWith = (measure: (cells: Cells) => [count: number, n: number]): Share => {
    const simple = share(...measure(all));
    if (!clustered || simple.rate === null) return simple;
    return { ...simple, ci95: interval(drawn, (cells) => rate(...measure(cells))) };
  };
  const kappa = kappaOf(all);
  return {
    n: pairs.length,
    shareIntervals: clustered ? "bootstrap" : "wilson",
    accuracy: shareWith(({ bothRight, bothWrong, falseAccept, falseReject }) => [
      bothRight + bothWrong,
      bothRight + bothWrong + falseAccept + falseReject,
    ]),
    kappa,
    kappaCi95: kappa === null ? null : interval(drawn, kappaOf),
    falseAccept: shareWith(({ falseAccept, bothWrong }) => [falseAccept, falseAccept + bothWrong]),
    falseReject: shareWith(({ falseReject, bothRight }) => [falseReject, falseReject + bothRight]),
  };
}

function cellOf(expected: boolean, given: boolean): keyof Cells {
  if (expected) return given ? "bothRight" : "falseReject";
  return given ? "falseAccept" : "bothWrong";
}

function emptyCells(): Cells {
  return { bothRight: 0, falseAccept: 0, falseReject: 0, bothWrong: 0 };
}

function sum(questions: readonly Cells[]): Cells {
  const total = emptyCells();
  for (const cells of questions) {
    total.bothRight += cells.bothRight;
    total.falseAccept += cells.falseAccept;
    total.falseReject += cells.falseReject;
    total.bothWrong += cells.bothWrong;
  }
  return total;
}

function kappaOf({ bothRight, falseAccept, falseReject, bothWrong }: Cells): number | null {
  const n = bothRight + falseAccept + falseReject + bothWrong;
  const expectedRight = bothRight + falseReject;
  const givenRight = bothRight + falseAccept;
  const chance = expectedRight * givenRight + (n - expectedRight) * (n - givenRight);
  // Computed in counts, so that full agreement by chance is exact.
  if (n === 0 || chance === n * n) return null;
  return ((bothRight + bothWrong) * n - chance) / (n * n - chance);
}

function rate(count: number, n: number): number | null {
  return n === 0 ? null : count / n;
}

function bootstrap(questions: readonly Cells[], seed: number): Cells[] {
  const draw = random(seed).derive("agreement");
  const [right, accepted, rejected, wrong] = (
    ["bothRight", "falseAccept", "falseReject", "bothWrong"] as const
  ).map((cell) => Int32Array.from(questions, (cells) => cells[cell])) as [
    Int32Array,
    Int32Array,
    Int32Array,
    Int32Array,
  ];
  const n = questions.length;
  return Array.from({ length: RESAMPLES }, () => {
    const total = emptyCells();
    for (let drawn = 0; drawn < n; drawn++) {
      const i = draw.int(n);
      total.bothRight += right[i] ?? 0;
      total.falseAccept += accepted[i] ?? 0;
      total.falseReject += rejected[i] ?? 0;
      total.bothWrong += wrong[i] ?? 0;
    }
    return total;
  });
}

/** Percentiles over the resamples in which the measure is defined; null if there are none. */
function interval(
  drawn: readonly Cells[],
  measure: (cells: Cells) => number | null,
): Interval | null {
  const values = drawn.map(measure).filter((value) => value !== null);
  return values.length === 0 ? null : percentileInterval(Float64Array.from(values));
}

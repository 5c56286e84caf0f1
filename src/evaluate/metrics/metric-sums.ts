import { type CoreMetric, rowMetrics } from "./index.ts";
import { passAtK, passCounts, potentialAtK } from "./draw-metrics.ts";

/** By metric, the mean over questions of the means over draws; NaN when not measured. k draws: also `avg@k`, `pass@…`, `majority@k`, … */
export type MetricValues = Record<CoreMetric, number> & Record<string, number>;

/** Sums of one question's measured draws. */
export interface QuestionValues {
  /** [metrics of the registry] mean over the draws that have the metric; NaN if none has it. */
  means: Float64Array;
  /** The same of what the recipe measures (`EvaluationRow.metrics`), by name. */
  own: ReadonlyMap<string, number>;
  draws: number;
  right: number;
  majority: number;
}

/** Sums over questions, for the means. Its size depends on neither questions nor draws. */
export interface MetricSums {
  add(question: QuestionValues): void;
  readonly n: number;
  values(draws: number): MetricValues;
  counts(): Record<string, number>;
}

export function openMetricSums(): MetricSums {
  const { parts } = rowMetrics;
  const sums = new Float64Array(parts.length);
  const counts = new Float64Array(parts.length);
  const ownSums = new Map<string, { sum: number; count: number }>();
  const tries: DrawSums = new Map();
  let n = 0;
  let majority = 0;
  return {
    get n() {
      return n;
    },
    add(question) {
      n += 1;
      question.means.forEach((value, i) => {
        if (Number.isNaN(value)) return;
        sums[i] = (sums[i] ?? 0) + value;
        counts[i] = (counts[i] ?? 0) + 1;
      });
      for (const [name, value] of question.own) {
        const { sum, count } = ownSums.get(name) ?? { sum: 0, count: 0 };
        ownSums.set(name, { sum: sum + value, count: count + 1 });
      }
      majority += question.majority;
      addTries(tries, question);
    },
    values(draws) {
      const values: Record<string, number> = {};
      parts.forEach(({ name, always }, i) => {
        const count = counts[i] ?? 0;
        if (always || count > 0) values[name] = (sums[i] ?? 0) / count;
      });
      for (const [name, { sum, count }] of ownSums) values[name] = sum / count;
      if (draws > 1) values[`avg@${draws}`] = values["em"] ?? NaN;
      return { ...values, ...drawValues(tries, draws, majority / n) } as MetricValues;
    },
    counts() {
      const sparse = parts.flatMap(({ name, always }, i) =>
        always || counts[i] === 0 ? [] : [[name, counts[i] ?? 0] as const],
      );
      const own = [...ownSums].flatMap(([name, { count }]) =>
        count === n ? [] : [[name, count] as const],
      );
      return Object.fromEntries([...sparse, ...own]);
    },
  };
}

/** Number of questions by number of draws and of right draws. pass@k and potential@k are computed from it. */
type DrawSums = Map<string, { draws: number; right: number; questions: number }>;

function addTries(sums: DrawSums, { draws, right }: QuestionValues): void {
  const key = `${right}/${draws}`;
  const same = sums.get(key) ?? { draws, right, questions: 0 };
  same.questions += 1;
  sums.set(key, same);
}

function drawValues(sums: DrawSums, draws: number, majority: number): Record<string, number> {
  if (draws < 2) return {};
  const values: Record<string, number> = {};
  for (const k of passCounts(draws)) {
    const tries = triesOf(sums, k);
    const passed = tries.reduce((sum, { weight, passK }) => sum + weight * passK, 0);
    values[`pass@${k}`] = passed / tries.reduce((sum, { weight }) => sum + weight, 0);
  }
  values[`majority@${draws}`] = majority;
  const potential = potentialAtK(triesOf(sums, draws));
  if (potential !== null) values[`potential@${draws}`] = potential;
  return values;
}

/** A question with fewer than k measured draws, because others failed, is left out. */
function triesOf(sums: DrawSums, k: number): { weight: number; passK: number; pass1: number }[] {
  return [...sums.values()]
    .filter(({ draws }) => draws >= k)
    .map(({ draws, right, questions }) => ({
      weight: questions,
      passK: passAtK(draws, right, k),
      pass1: right / draws,
    }));
}

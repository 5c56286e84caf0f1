import {
  bootstrapInterval,
  bootstrapIntervals,
  type Interval,
  wilsonInterval,
} from "./statistics.ts";

/** Method of a 95 % interval of a mean: Wilson's for a share of right answers and where all values are 0 or all 1, else a bootstrap. */
export type IntervalMethod = "wilson" | "bootstrap";

/** A figure's values, one per question. */
export type FigureValues = { name: string; values: readonly number[]; method: IntervalMethod };

/** 95 % intervals of several figures' means; those with equally many questions share their resamples. @param seed of the bootstrap. */
export function intervalsOf(
  figures: readonly FigureValues[],
  { seed }: { seed: number },
): { intervals: Record<string, Interval>; intervalMethods: Record<string, IntervalMethod> } {
  const found = new Map<string, Interval>();
  const resampled = new Map<number, FigureValues[]>();
  for (const figure of figures) {
    const { name, values, method } = figure;
    // A bootstrap of questions that all have 0, or all 1, has width 0; they are still a sample.
    if (method === "wilson" || isAllOrNothing(values)) {
      found.set(name, wilsonInterval(values.filter((value) => value === 1).length, values.length));
    } else {
      const alike = resampled.get(values.length) ?? [];
      resampled.set(values.length, [...alike, figure]);
    }
  }
  for (const alike of resampled.values()) {
    const columns = alike.map(({ values }) => values);
    bootstrapIntervals(columns, { seed }).forEach((interval, i) => {
      found.set(alike[i]?.name ?? "", interval);
    });
  }
  const inOrder = figures.map(({ name }) => [name, found.get(name) ?? [NaN, NaN]] as const);
  return {
    intervals: Object.fromEntries(inOrder),
    intervalMethods: Object.fromEntries(
      figures.map(({ name, method, values }) => [name, isAllOrNothing(values) ? "wilson" : method]),
    ),
  };
}

/** 95 % interval of a mean over questions; Wilson's where all are 0 or all 1. Null of no values, and of one by bootstrap. */
export function meanInterval(
  { values, method }: Pick<FigureValues, "values" | "method">,
  options: { seed: number },
): Interval | null {
  if (method === "wilson" || isAllOrNothing(values))
    return values.length === 0
      ? null
      : wilsonInterval(values.filter((value) => value === 1).length, values.length);
  return values.length < 2 ? null : bootstrapInterval(values, options);
}

function isAllOrNothing(values: readonly number[]): boolean {
  const [first] = values;
  return (first === 0 || first === 1) && values.every((value) => value === first);
}

import type { Settings } from "./settings/settings-schema.ts";

/** One of `evaluation.sets`. */
export interface EvaluationSet {
  set: string;
  /** The run's, with what the set states: an evaluation by these is the set's. */
  settings: Settings;
}

/** The further evaluations of a run, in the recipe's order. */
export function setsOf(settings: Settings): EvaluationSet[] {
  const { sets = {}, ...own } = settings.evaluation;
  return Object.entries(sets).map(([set, { environment, models, ...differs }]) => {
    const evaluation = {
      dataset: differs.dataset ?? own.dataset,
      retriever: differs.retriever ?? own.retriever,
      strategy: differs.strategy ?? own.strategy,
      sampling: differs.sampling ?? own.sampling,
      budgets: differs.budgets ?? own.budgets,
      samplesPerTask: differs.samplesPerTask ?? own.samplesPerTask,
      metrics: own.metrics,
    };
    const whole = {
      environment: environment ?? settings.environment,
      models: models ?? settings.models,
    };
    return { set, settings: { ...settings, ...whole, evaluation } };
  });
}

/** What a policy came to: by the run's own `evaluation`, and by each of its sets. */
export interface Measured<T> {
  own: T;
  sets: Readonly<Record<string, T>>;
}

/** The same before and after a training, as results have it: claims name `eval.after.em` and `eval.sets.transfer.after.em`. */
export interface AroundTraining<T> {
  before: T;
  after: T;
  /** Absent where the recipe names no set. */
  sets?: Readonly<Record<string, { before: T; after: T }>>;
}

export function aroundTraining<T>(before: Measured<T>, after: Measured<T>): AroundTraining<T> {
  const sets = Object.entries(before.sets).flatMap(([set, was]) => {
    const is = after.sets[set];
    return is === undefined ? [] : [[set, { before: was, after: is }] as const];
  });
  const own = { before: before.own, after: after.own };
  return sets.length === 0 ? own : { ...own, sets: Object.fromEntries(sets) };
}

/** Each evaluation in another form, for programs that read results. */
export function mapAround<T, U>(
  { before, after, sets }: AroundTraining<T>,
  form: (evaluation: T) => U,
): AroundTraining<U> {
  const own = { before: form(before), after: form(after) };
  if (sets === undefined) return own;
  const others = Object.entries(sets).map(
    ([set, around]) => [set, { before: form(around.before), after: form(around.after) }] as const,
  );
  return { ...own, sets: Object.fromEntries(others) };
}

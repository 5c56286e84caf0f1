import { DataError } from "../../base/errors.ts";
import { quote } from "../../base/schema.ts";
import { mean } from "../../base/statistics.ts";
import type { ComparedQuestion, ComparedRun, Side } from "./compared-run.ts";

/** The questions that all runs of two sides have, joined by id. */
export interface SharedQuestions {
  /** In the order of the left side's first run; measured in every run at least once. */
  ids: readonly string[];
  /** Questions of one side that the other lacks. */
  onlyLeft: number;
  onlyRight: number;
  /** Shared questions on which every draw of some run ended in an error. */
  leftOut: number;
}

/**
 * @throws {DataError} COMPARE_UNMATCHED when no question is shared, when an id has different questions, or when no shared question was
 * measured on both sides.
 */
export function sharedQuestions(left: Side, right: Side): SharedQuestions {
  const runs = [...left.runs, ...right.runs];
  const ids = [...(runs[0]?.questions.keys() ?? [])].filter((id) =>
    runs.every(({ questions }) => questions.has(id)),
  );
  if (ids.length === 0) throw nothingShared(left, right);
  for (const id of ids) checkSame(id, runs);
  const measured = ids.filter((id) => runs.every((run) => questionOf(run, id).draws.length > 0));
  if (measured.length === 0) {
    throw new DataError(
      "COMPARE_UNMATCHED",
      `${left.name} and ${right.name}: share ${ids.length} questions, but none was measured on both sides, because of errors. agentrl eval --resume retries them.`,
    );
  }
  return {
    ids: measured,
    onlyLeft: knownTo(left) - ids.length,
    onlyRight: knownTo(right) - ids.length,
    leftOut: ids.length - measured.length,
  };
}

/** Values of a metric on the questions that have it on both sides, as means over draws. */
export interface SharedValues {
  ids: readonly string[];
  /** [R][n] */
  left: number[][];
  /** [S][n] */
  right: number[][];
}

/** @returns no ids if a run has the metric on none of the questions. */
export function sharedValues(
  left: Side,
  right: Side,
  ids: readonly string[],
  metric: string,
): SharedValues {
  const runs = [...left.runs, ...right.runs];
  const found = runs.map((run) => ids.map((id) => valueOf(questionOf(run, id), metric)));
  const known = ids.map((_, i) => found.every((values) => values[i] !== null));
  const values = found.map((each) =>
    each.flatMap((value, i) => (value !== null && known[i] === true ? [value] : [])),
  );
  return {
    ids: ids.filter((_, i) => known[i]),
    left: values.slice(0, left.runs.length),
    right: values.slice(left.runs.length),
  };
}

/** A question that the run surely has. */
export function questionOf({ questions }: ComparedRun, id: string): ComparedQuestion {
  return questions.get(id) ?? { id, question: null, references: null, draws: [], errors: 0 };
}

/** Mean over the draws that have the metric; null if none has it. */
export function valueOf({ draws }: ComparedQuestion, metric: string): number | null {
  const values = draws.flatMap(({ values: { [metric]: value } }) =>
    value === undefined ? [] : [value],
  );
  return values.length === 0 ? null : mean(values);
}

function knownTo({ runs }: Side): number {
  return new Set(runs.flatMap(({ questions }) => [...questions.keys()])).size;
}

/** Ids such as 0, 1, 2 exist in any file, so their questions must be equal. */
function checkSame(id: string, runs: readonly ComparedRun[]): void {
  for (const part of ["question", "references"] as const) {
    const said = runs.flatMap((run) => {
      const value = questionOf(run, id)[part];
      return value === null ? [] : [{ run, text: JSON.stringify(value) }];
    });
    const [first] = said;
    const other = said.find(({ text }) => text !== first?.text);
    if (first === undefined || other === undefined) continue;
    throw new DataError(
      "COMPARE_UNMATCHED",
      `question ${JSON.stringify(id)}: its ${part} in ${first.run.name}, ${first.text.slice(0, 100)}, differs in ${other.run.name}: ${other.text.slice(0, 100)}. Compare runs of one question file.`,
    );
  }
}

function nothingShared(left: Side, right: Side): DataError {
  const first = ({ runs }: Side): string => quote([...(runs[0]?.questions.keys() ?? [])][0]);
  return new DataError(
    "COMPARE_UNMATCHED",
    `${left.name} and ${right.name}: share no question by id (the first ids are ${first(left)} and ${first(right)}). Compare runs of one question file.`,
  );
}

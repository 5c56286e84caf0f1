import { isPythonNumber, normalizeAnswer } from "./answer-normalizations.ts";

/** DROP's answer metrics, as in AllenNLP's evaluation and IRCoT: answers are lists of spans. */

/** One answer: a span, or several spans that form the answer together. */
export type Spans = string | readonly string[];

/** Each value from 0 to 1. */
export interface DropScores {
  em: number;
  f1: number;
  precision: number;
  recall: number;
}

/**
 * DROP's exact match and bag-of-words scores, the best over the references.
 *
 * em: both sides have the same number of spans and the same set of normalised spans. The others: each reference span is aligned with
 * at most one predicted span so that the sum of F1 is maximal, and the aligned values are averaged over the longer side.
 * A span is the *set* of its words ("drop" normalisation); a span whose numbers all differ from the reference's scores 0. An
 * empty set has precision (the answer) or recall (the reference) 1. f1, precision and recall are rounded to two decimals per
 * question as in numpy: half to even.
 *
 * @param prediction an empty list counts as one empty span.
 * @param references alternative answers; the best counts, compared by em, f1, precision, recall in this order.
 * @returns zeros without references.
 *
 * Source: AllenNLP's `drop_em_and_f1`, with the precision and recall of StonyBrookNLP/ircot, `metrics/drop_eval.py`.
 * Different here: mojibake and curly quotes are not repaired first (IRCoT runs ftfy).
 *
 * @example dropScores("30 Jan 1969", ["January 30, 1969"]) // shared 30.0 and 1969.0 of 3 and 3: f1 0.67
 * @example dropScores(["Paris"], [["Paris", "Rome"]])      // aligned 1 and 0: f1 0.5
 */
export function dropScores(prediction: Spans, references: readonly Spans[]): DropScores {
  const predicted = spansOf(prediction).map(readSpan);
  let best: DropScores = { em: 0, f1: 0, precision: 0, recall: 0 };
  for (const reference of references) {
    const scores = against(predicted, spansOf(reference).map(readSpan));
    if (isBetter(scores, best)) best = scores;
  }
  return best;
}

/**
 * Parses a prediction into spans as IRCoT's evaluation does. A text that starts with "[" or ends with "]" is a comma-separated list,
 * without its quotes and brackets. In each span, the text after the last "answer is" counts, without a final full stop, if the
 * span contains it.
 *
 * Source: StonyBrookNLP/ircot, `evaluate.py`.
 * @example ircotSpans('["Oslo", "Bergen"]')        // ["Oslo", " Bergen"]
 * @example ircotSpans("So the answer is: Oslo.")   // ["Oslo"]
 */
export function ircotSpans(prediction: Spans): string[] {
  return bracketed(prediction).map((span) => {
    const bare = span.startsWith('"') && span.endsWith('"') ? span.slice(1, -1) : span;
    const answer = /^.* answer is:? (.*)/.exec(bare)?.[1];
    return answer?.replace(/\.$/, "") ?? bare;
  });
}

function bracketed(prediction: Spans): readonly string[] {
  if (typeof prediction !== "string") return prediction;
  const trimmed = prediction.trim();
  const isList = trimmed.startsWith("[") || trimmed.endsWith("]");
  return isList ? prediction.replace(/["[\]]/g, "").split(",") : [prediction];
}

interface Span {
  text: string;
  words: Set<string>;
  numbers: Set<string>;
}

function spansOf(answer: Spans): readonly string[] {
  if (typeof answer === "string") return [answer];
  return answer.length === 0 ? [""] : answer;
}

function readSpan(raw: string): Span {
  const text = normalizeAnswer(raw, "drop");
  const words = new Set(text === "" ? [] : text.split(" "));
  return { text, words, numbers: new Set([...words].filter(isPythonNumber)) };
}

function against(predicted: readonly Span[], reference: readonly Span[]): DropScores {
  const overlaps = reference.map((gold) => predicted.map((span) => overlap(span, gold)));
  const columns = bestAssignment(overlaps.map((row) => row.map(({ f1 }) => f1)));
  const aligned = columns.flatMap((column, row) => overlaps[row]?.[column] ?? []);
  const longer = Math.max(predicted.length, reference.length);
  const average = (of: (scores: Overlap) => number): number =>
    halfEven(aligned.reduce((sum, scores) => sum + of(scores), 0) / longer);
  return {
    em: Number(predicted.length === reference.length && sameTexts(predicted, reference)),
    f1: average(({ f1 }) => f1),
    precision: average(({ precision }) => precision),
    recall: average(({ recall }) => recall),
  };
}

type Overlap = Omit<DropScores, "em">;

function overlap(predicted: Span, gold: Span): Overlap {
  const numbersAgree =
    gold.numbers.size === 0 || [...gold.numbers].some((number) => predicted.numbers.has(number));
  if (!numbersAgree) return { f1: 0, precision: 0, recall: 0 };
  let shared = 0;
  for (const word of gold.words) if (predicted.words.has(word)) shared += 1;
  const precision = predicted.words.size === 0 ? 1 : shared / predicted.words.size;
  const recall = gold.words.size === 0 ? 1 : shared / gold.words.size;
  const sum = precision + recall;
  return { f1: sum === 0 ? 0 : (2 * precision * recall) / sum, precision, recall };
}

function sameTexts(left: readonly Span[], right: readonly Span[]): boolean {
  const a = new Set(left.map(({ text }) => text));
  const b = new Set(right.map(({ text }) => text));
  return a.size === b.size && [...a].every((text) => b.has(text));
}

function isBetter(scores: DropScores, than: DropScores): boolean {
  for (const key of ["em", "f1", "precision", "recall"] as const) {
    if (scores[key] !== than[key]) return scores[key] > than[key];
  }
  return false;
}

/** Two decimals, half to even. */
function halfEven(value: number): number {
  const scaled = value * 100;
  const below = Math.floor(scaled);
  const isHalf = scaled - below === 0.5;
  return (isHalf ? below + (below % 2) : Math.round(scaled)) / 100;
}

/**
 * The one-to-one assignment of rows to columns with the maximal sum: the Hungarian method with potentials (Kuhn 1955,
 * Munkres 1957), O(rows² · columns).
 *
 * @param gain [rows][columns], at least one of each.
 * @returns the column of each row, or -1 for unassigned rows when there are more rows than columns.
 * @example bestAssignment([[1, 2], [3, 5]]) // [0, 1]: 1 + 5 beats 2 + 3
 */
export function bestAssignment(gain: readonly (readonly number[])[]): number[] {
  const rows = gain.length;
  const columns = gain[0]?.length ?? 0;
  if (rows > columns) {
    const byColumn = bestAssignment(
      Array.from({ length: columns }, (_, column) => gain.map((row) => row[column] ?? 0)),
    );
    return Array.from({ length: rows }, (_, row) => byColumn.indexOf(row));
  }
  const state: Potentials = {
    rowPotential: zeros(rows + 1),
    columnPotential: zeros(columns + 1),
    rowOf: zeros(columns + 1),
  };
  for (let row = 1; row <= rows; row++) augment(gain, row, state);
  const found = Array<number>(rows).fill(-1);
  state.rowOf.forEach((row, column) => {
    if (row > 0 && column > 0) found[row - 1] = column - 1;
  });
  return found;
}

/** Rows and columns are 1-based; 0 means "none". */
interface Potentials {
  rowPotential: number[];
  columnPotential: number[];
  /** Row assigned to each column. */
  rowOf: number[];
}

/** Assigns one more row along the shortest augmenting path (Dijkstra over reduced costs, cost = −gain). */
function augment(
  gain: readonly (readonly number[])[],
  row: number,
  { rowPotential, columnPotential, rowOf }: Potentials,
): void {
  const columns = rowOf.length - 1;
  const slack = Array<number>(columns + 1).fill(Infinity);
  const before = zeros(columns + 1);
  const reached = Array<boolean>(columns + 1).fill(false);
  rowOf[0] = row;
  let at = 0;
  do {
    reached[at] = true;
    const from = rowOf[at] ?? 0;
    let least = Infinity;
    let next = 0;
    for (let column = 1; column <= columns; column++) {
      if (reached[column] === true) continue;
      const cost = -(gain[from - 1]?.[column - 1] ?? 0);
      const reduced = cost - (rowPotential[from] ?? 0) - (columnPotential[column] ?? 0);
      if (reduced < (slack[column] ?? Infinity)) {
        slack[column] = reduced;
        before[column] = at;
      }
      if ((slack[column] ?? Infinity) < least) {
        least = slack[column] ?? Infinity;
        next = column;
      }
    }
    for (let column = 0; column <= columns; column++) {
      if (reached[column] === true) {
        const assigned = rowOf[column] ?? 0;
        rowPotential[assigned] = (rowPotential[assigned] ?? 0) + least;
        columnPotential[column] = (columnPotential[column] ?? 0) - least;
      } else {
        slack[column] = (slack[column] ?? Infinity) - least;
      }
    }
    at = next;
  } while (rowOf[at] !== 0);
  while (at !== 0) {
    const previous = before[at] ?? 0;
    rowOf[at] = rowOf[previous] ?? 0;
    at = previous;
  }
}

function zeros(length: number): number[] {
  return Array<number>(length).fill(0);
}

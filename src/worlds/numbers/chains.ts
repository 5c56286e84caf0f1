import type { Route } from "./draft.ts";
import { ASKS } from "./language.ts";
import { applied } from "./quantities.ts";

/** A change of a running value. */
export interface Move {
  /** "from" subtracts the running value from the number. */
  operation: "+" | "-" | "*" | "/" | "%" | "from";
  by: Route;
  /** The value of `by`. */
  value: number;
  question: string;
}

/** The running value after the moves. */
export function moved(start: number, moves: readonly Move[]): number {
  return moves.reduce(
    (now, { operation, value }) =>
      operation === "from" ? value - now : applied(operation, [now, value]),
    start,
  );
}

/** Applies the moves in order. */
export function inOrder(start: Route, moves: readonly Move[]): Route {
  return (plan) =>
    moves.reduce((now, { operation, by, question }) => {
      const operand = by(plan);
      if (operation === "from") return plan(question, "-", operand, now);
      return plan(question, operation, now, operand);
    }, start(plan));
}

/** Moves in order, then the same with each pair of neighbours merged or distributed where that is possible. */
export function chainRoutes(start: Route, moves: readonly Move[]): Route[] {
  const others = moves.slice(1).flatMap((second, i) => {
    const first = moves[i];
    const pair = first === undefined ? null : (merged(first, second) ?? distributed(first, second));
    return pair === null ? [] : [[...moves.slice(0, i), ...pair, ...moves.slice(i + 2)]];
  });
  return [moves, ...others].map((each) => inOrder(start, each));
}

/** Two changes as one: v + 9 - 4 is v + (9 - 4), v * 2 * 3 is v * (2 * 3). */
function merged(first: Move, second: Move): Move[] | null {
  const { question } = second;
  const [a, b] = [first.operation, second.operation];
  if (a === "*" && b === "*") {
    const by: Route = (plan) => plan(ASKS.factor, "*", first.by(plan), second.by(plan));
    return [{ operation: "*", by, value: first.value * second.value, question }];
  }
  if ((a !== "+" && a !== "-") || (b !== "+" && b !== "-") || first.value === second.value)
    return null;
  const joint = a === b ? "+" : "-";
  const [larger, smaller] =
    a === b || first.value > second.value ? [first, second] : [second, first];
  const by: Route = (plan) => plan(ASKS.changes, joint, larger.by(plan), smaller.by(plan));
  const value = applied(joint, [larger.value, smaller.value]);
  return [{ operation: larger.operation, by, value, question }];
}

/** A product of a sum as a sum of products: (v - 3) * 5 is v * 5 - 3 * 5. */
function distributed(first: Move, second: Move): Move[] | null {
  const isSum = first.operation === "+" || first.operation === "-";
  if (!isSum || second.operation !== "*") return null;
  const by: Route = (plan) => plan(ASKS.changes, "*", first.by(plan), second.by(plan));
  const value = first.value * second.value;
  return [second, { operation: first.operation, by, value, question: second.question }];
}

import type { Random } from "../../base/random.ts";
import { ASKS, SENTENCES, type SentenceName, THINGS, filled, pronouns } from "./language.ts";
import { type Plan, type Quantity, applied, given } from "./quantities.ts";

/** A change of a running value. */
export interface Move {
  /** "from" subtracts the running value from the number. */
  operation: "+" | "-" | "*" | "/" | "%" | "from";
  by: Route;
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

/** A way to compute a value: writes its steps. */
export type Route = (plan: Plan) => Quantity;

/** A problem before it is checked and numbered. */
export interface Draft {
  sentences: string[];
  /** Ways to the answer, the plain one first. */
  routes: Route[];
}

/** What a problem is drawn from. */
export interface Place {
  draw: Random;
  steps: number;
  largest: number;
  name: (person: number) => string;
}

/** Draws one problem of a kind; null when the numbers do not work out. */
export type Kind = (place: Place) => Draft | null;

/** A sentence of this meaning in one of its wordings. */
type Say = (name: SentenceName, slots?: Readonly<Record<string, string | number>>) => string;

/** Sentences about the first two people and three things. */
export function speaker(
  { draw, name }: Place,
  things: readonly string[] = draw.shuffle(THINGS),
): Say {
  const [t = "", u = "", v = ""] = things;
  const people = { p: name(0), q: name(1), ...pronouns(name(0)) };
  const common = { ...people, t, s: `${t}s`, u: `${u}s`, v: `${v}s` };
  return (sentence, slots = {}) =>
    filled(draw.pick<string>(SENTENCES[sentence]), { ...common, ...slots });
}

/** A number to add, from 2. */
export function addend({ draw, largest }: Place): number {
  return 2 + draw.int(Math.max(1, Math.floor(largest * 0.4) - 1));
}

/** A number to multiply by, from 2. */
export function factor({ draw, largest }: Place): number {
  return 2 + draw.int(Math.min(30, Math.floor(Math.sqrt(largest))) - 1);
}

/** A number from 1 to less than `value`; null when there is none. */
export function below({ draw }: Place, value: number): number | null {
  return value < 2 ? null : 1 + draw.int(value - 1);
}

/** A divisor from 2 to 12 that is less than the value; null when there is none. */
export function divisor({ draw }: Place, value: number): number | null {
  const found = Array.from({ length: 11 }, (_, i) => i + 2).filter(
    (each) => value > each && value % each === 0,
  );
  return found.length === 0 ? null : draw.pick(found);
}

/** A number of equal shares; one in four may leave halves or quarters. */
export function shares(place: Place, value: number): number | null {
  const exact = divisor(place, value);
  if (place.draw.int(4) > 0) return exact;
  return value % 4 === 0 ? exact : place.draw.pick([2, 4]);
}

/** A number of the text, as a route. */
export function told(value: number): Route {
  return () => given(value);
}

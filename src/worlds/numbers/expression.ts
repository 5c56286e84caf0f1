import {
  type Kind,
  type Place,
  type Route,
  addend,
  below,
  divisor,
  factor,
  speaker,
  told,
} from "./chains.ts";
import { ASKS } from "./language.ts";
import { type Operation, applied, expressionOf } from "./quantities.ts";

type Tree = number | { operation: Operation; operands: readonly Tree[]; value: number };

/** An expression to compute. */
export const expression: Kind = (place) => {
  const tree = grown(place, place.steps);
  if (tree === null || typeof tree === "number") return null;
  const routes = [tree, ...rewritten(tree)].map(routeOf);
  const other = rightFirst(tree);
  if (other !== null) routes.push(other);
  return { sentences: [speaker(place)("expression", { e: textOf(tree) })], routes };
};

const FREQUENT = ["+", "+", "-", "-", "*", "*", "/", "%", "max"] as const;

/** A tree of so many operations; null when the numbers do not work out. */
function grown(place: Place, operations: number): Tree | null {
  const { draw } = place;
  if (operations === 0) return addend(place);
  const operation = draw.pick(FREQUENT);
  const ofRight = draw.int(3) === 0 ? draw.int(operations) : 0;
  const left = grown(place, operations - 1 - ofRight);
  if (left === null) return null;
  const right = ofRight === 0 ? leaf(place, operation, valueOf(left)) : grown(place, ofRight);
  if (right === null) return null;
  const third = operation === "max" && draw.int(2) === 0 ? [addend(place)] : [];
  return joined(operation, [left, right, ...third], place.largest);
}

function leaf(place: Place, operation: Operation, left: number): number | null {
  if (operation === "-") return below(place, left);
  if (operation === "*") return factor(place);
  if (operation === "/") return divisor(place, left);
  if (operation === "%") return left > 12 ? 2 + place.draw.int(11) : null;
  return addend(place);
}

/** An operation on trees; null when its value would not be a whole number from 1 to the largest. */
function joined(operation: Operation, operands: readonly Tree[], largest: number): Tree | null {
  const value = applied(operation, operands.map(valueOf));
  const isWhole = Number.isInteger(value) && value > 0 && value <= largest;
  return isWhole ? { operation, operands, value } : null;
}

function valueOf(tree: Tree): number {
  return typeof tree === "number" ? tree : tree.value;
}

/** Sums bind less tightly than products; both are read from the left. */
function bindingOf(tree: Tree): number {
  if (typeof tree === "number" || tree.operation === "max") return 3;
  return tree.operation === "+" || tree.operation === "-" ? 1 : 2;
}

function textOf(tree: Tree): string {
  if (typeof tree === "number") return String(tree);
  const own = bindingOf(tree);
  const texts = tree.operands.map((operand, i) => {
    const isOpen = own < 3 && (i === 0 ? bindingOf(operand) < own : bindingOf(operand) <= own);
    return isOpen ? `( ${textOf(operand)} )` : textOf(operand);
  });
  return expressionOf(tree.operation, texts);
}

function routeOf(tree: Tree): Route {
  if (typeof tree === "number") return told(tree);
  const routes = tree.operands.map(routeOf);
  return (plan) => plan(ASKS.value, tree.operation, ...routes.map((route) => route(plan)));
}

/** The right operand first, where both are operations. */
function rightFirst({ operation, operands }: Exclude<Tree, number>): Route | null {
  const [left, right, third] = operands;
  if (left === undefined || right === undefined || third !== undefined) return null;
  if (typeof left === "number" || typeof right === "number") return null;
  return (plan) => {
    const second = routeOf(right)(plan);
    return plan(ASKS.value, operation, routeOf(left)(plan), second);
  };
}

/** The tree with one operation distributed or regrouped, for each place where that is possible. */
function rewritten(tree: Tree): Tree[] {
  if (typeof tree === "number") return [];
  const { operation, operands } = tree;
  const inside = operands.flatMap((operand, i) =>
    rewritten(operand).map((other): Tree => ({ ...tree, operands: operands.with(i, other) })),
  );
  const [left, right] = operands;
  if (left === undefined || right === undefined || typeof left === "number") return inside;
  const [a, b] = left.operands;
  if (a === undefined || b === undefined) return inside;
  const of = (sign: Operation, x: Tree, y: Tree): Tree[] => {
    const made = joined(sign, [x, y], Infinity);
    return made === null ? [] : [made];
  };
  const isSum = left.operation === "+" || left.operation === "-";
  if (operation === "*" && isSum) {
    const [x, y] = [of("*", a, right), of("*", b, right)].flat();
    if (x !== undefined && y !== undefined) inside.push(...of(left.operation, x, y));
  } else if (
    operation === left.operation &&
    (operation === "+" || operation === "*" || operation === "-")
  ) {
    const inner = of(operation === "*" ? "*" : "+", b, right);
    inside.push(...inner.flatMap((y) => of(operation, a, y)));
  }
  return inside;
}

import { ofNumbers } from "./numbers.ts";
import { percentFormatted } from "./percent-format.ts";
import { codePoints, joined } from "./python-text.ts";
import { Dict, Lazy, Range, SafeText, Tuple, Undefined, type Value, View, isIterable, itemsOf, lengthOf, requireLength, sequenceOf, spend, typeName, unsupported, wrong } from "./values.ts"; // prettier-ignore
import { compareTexts, escaped } from "./written.ts";

/** A number as Python's arithmetic takes it: True is 1. */
export function numberOf(value: Value): bigint | number | null {
  if (typeof value === "boolean") return value ? 1n : 0n;
  return typeof value === "bigint" || typeof value === "number" ? value : null;
}

/** `left operator right` of Python. @throws {TemplateFault} for operands that do not fit. */
export function arithmetic(operator: string, left: Value, right: Value): Value {
  if (left instanceof Undefined) return left.fail();
  if (operator === "%" && typeof left === "string") return percentFormatted(left, right);
  if (right instanceof Undefined) return right.fail();
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== null && b !== null) return ofNumbers(operator, a, b);
  if (operator === "+") {
    if (typeof left === "string" && typeof right === "string") return concat(left, right);
    const [first, second] = [sequenceOf(left), sequenceOf(right)];
    const alike = typeName(left) === typeName(right) && !(left instanceof Range);
    if (first !== null && second !== null && alike) {
      requireLength(first.length + second.length);
      const items = [...first, ...second];
      return Array.isArray(left) ? items : new Tuple(items);
    }
  }
  if (operator === "*") {
    if (typeof b === "bigint") return repeated(left, Number(b));
    if (typeof a === "bigint") return repeated(right, Number(a));
  }
  if (left instanceof SafeText || right instanceof SafeText) return addedSafely(operator, left, right); // prettier-ignore
  throw wrong(`${typeName(left)} ${operator} ${typeName(right)}: no such operation`);
}

/** A text of `safe` or `escape` escapes what is added to it. */
function addedSafely(operator: string, left: Value, right: Value): SafeText {
  const [a, b] = [left, right].map((each) => (typeof each === "string" ? escaped(each) : each));
  if (operator === "+" && a instanceof SafeText && b instanceof SafeText) return new SafeText(concat(a.text, b.text)); // prettier-ignore
  throw unsupported(`${operator} with a text of safe or escape`);
}

/** Joined texts share memory with their parts, so that a loop that adds to a text costs what it adds. */
export function concat(left: string, right: string): string {
  spend(Math.min(left.length, right.length) / 16);
  if (left.length + right.length > 2 ** 24) requireLength(left.length + right.length);
  return left + right;
}

function repeated(value: Value, times: number): Value {
  const count = Math.max(0, times);
  if (typeof value === "string") {
    requireLength(value.length * count);
    return value.repeat(count);
  }
  if (!Array.isArray(value) && !(value instanceof Tuple)) throw wrong(`${typeName(value)} * int: no such operation`); // prettier-ignore
  const items = Array.isArray(value) ? value : value.items;
  requireLength(items.length * count * 16);
  const all = Array.from<readonly Value[]>({ length: count }).fill(items).flat();
  return Array.isArray(value) ? all : new Tuple(all);
}

/** `==` of Python. */
export function equal(left: Value, right: Value): boolean {
  spend();
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== null || b !== null) return a !== null && b !== null && a == b;
  if (typeof left === "string" || left === null) return left === right;
  if (left instanceof Undefined) return right instanceof Undefined;
  const [first, second] = [sequenceOf(left), sequenceOf(right)];
  if (first !== null && second !== null) {
    if (typeName(left) !== typeName(right) || first.length !== second.length) return false;
    return first.every((item, i) => equal(item, second[i] ?? null));
  }
  if (left instanceof Dict && right instanceof Dict) {
    if (left.size !== right.size) return false;
    return [...left.pairs()].every(([key, item]) => {
      const other = right.get(key);
      return other !== undefined && equal(item, other);
    });
  }
  if (left === right) return true;
  const odd = [left, right].find((each) => each instanceof View || each instanceof SafeText);
  if (odd !== undefined && typeName(left) === typeName(right)) throw unsupported(`== of ${typeName(odd)}`); // prettier-ignore
  if ([left, right].some((each) => each instanceof SafeText)) throw unsupported("== with a text of safe or escape"); // prettier-ignore
  return false;
}

/** Below 0, 0 or above 0, as `<` orders. @throws {TemplateFault} for types without an order. */
export function compare(left: Value, right: Value): number {
  spend();
  const [a, b] = [numberOf(left), numberOf(right)];
  if (a !== null && b !== null) return a < b ? -1 : a > b ? 1 : a == b ? 0 : Number.NaN;
  if (typeof left === "string" && typeof right === "string") return compareTexts(left, right);
  const [first, second] = [sequenceOf(left), sequenceOf(right)];
  if (
    first !== null &&
    second !== null &&
    typeName(left) === typeName(right) &&
    !(left instanceof Range)
  ) {
    const at = first.findIndex((item, i) => i >= second.length || !equal(item, second[i] ?? null));
    if (at < 0 || at >= second.length) return first.length - second.length;
    return compare(first[at] ?? null, second[at] ?? null);
  }
  for (const each of [left, right]) if (each instanceof Undefined) each.fail();
  if (left instanceof View || left instanceof SafeText || right instanceof SafeText) throw unsupported(`an order of ${typeName(left)}`); // prettier-ignore
  throw wrong(`${typeName(left)} and ${typeName(right)} have no order`);
}

export function holds(operator: string, left: Value, right: Value): boolean {
  if (operator === "==" || operator === "!=") return equal(left, right) === (operator === "==");
  if (operator === "in" || operator === "not in")
    return contains(right, left) === (operator === "in");
  const order = compare(left, right);
  if (operator === "<") return order < 0;
  if (operator === "<=") return order <= 0;
  return operator === ">" ? order > 0 : order >= 0;
}

function contains(container: Value, item: Value): boolean {
  if (typeof container === "string") {
    if (typeof item !== "string") throw wrong(`'in <string>' requires string as left operand, not ${typeName(item)}`); // prettier-ignore
    spend(container.length / 16);
    return container.includes(item);
  }
  if (container instanceof Dict) return container.get(item) !== undefined;
  if (container instanceof SafeText) throw unsupported("in with a text of safe or escape");
  if (!isIterable(container)) throw wrong(`argument of type '${typeName(container)}' is not iterable`); // prettier-ignore
  for (const each of itemsOf(container)) if (equal(each, item)) return true;
  return false;
}

/** A whole number as an index: True is 1. */
export function indexOf(value: Value): number | null {
  const number = numberOf(value);
  return typeof number === "bigint" ? Number(number) : null;
}

/** The item at an index that may be negative. */
export function at<T>(items: ArrayLike<T>, index: number): T | undefined {
  return items[index < 0 ? index + items.length : index];
}

/** `of[start:stop:step]` */
export function sliced(of: Value, bounds: readonly Value[]): Value {
  if (of instanceof Undefined) return of.fail();
  const isText = typeof of === "string";
  const items = isText ? codePoints(of) : sequenceOf(of);
  if (items === null) throw wrong(`'${typeName(of)}' object cannot be sliced`);
  if (of instanceof Range || of instanceof Lazy) throw unsupported("a slice of a range");
  const [start = null, stop = null, by = null] = bounds.map((bound) => {
    const index = bound === null ? null : indexOf(bound);
    if (bound instanceof Undefined) bound.fail();
    if (bound !== null && index === null) throw wrong(`a slice from ${typeName(bound)}: indices are whole numbers`); // prettier-ignore
    return index;
  });
  const step = by ?? 1;
  if (step === 0) throw wrong("slice step cannot be zero");
  const { length } = items;
  const [low, high] = step > 0 ? [0, length] : [-1, length - 1];
  const bound = (given: number | null, absent: number): number =>
    given === null ? absent : Math.min(high, Math.max(low, given < 0 ? given + length : given));
  const first = bound(start, step > 0 ? low : high);
  const last = bound(stop, step > 0 ? high : low);
  const kept: Value[] = [];
  for (let i = first; step > 0 ? i < last : i > last; i += step) kept.push(items[i] ?? null);
  requireLength(kept.length);
  if (isText) return joined(kept as string[]);
  return Array.isArray(of) ? kept : new Tuple(kept);
}

/** `len`. @throws {TemplateFault} */
export function requiredLength(value: Value): bigint {
  if (value instanceof SafeText) throw unsupported("the length of a text of safe or escape");
  const length = lengthOf(value);
  if (length === null) throw wrong(`object of type '${typeName(value)}' has no len()`);
  if (typeof value === "string") spend(value.length / 16);
  return BigInt(length);
}

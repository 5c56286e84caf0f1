import { arithmetic, equal, holds } from "./operators.ts";
import { argumentsOf } from "./parameters.ts";
import { FILTER_NAMES } from "./scope.ts";
import { Callable, Dict, type Given, Members, SafeText, Undefined, type Value, isIterable, isTrue, lengthOf, typeName, unsupported, wrong } from "./values.ts"; // prettier-ignore
import { str } from "./written.ts";

type Test = (value: Value, other: Value) => boolean;

const isInteger = (value: Value): boolean => typeof value === "bigint";
const isNumber = (value: Value): boolean => /^(?:int|float|bool)$/.test(typeName(value));
const modulo = (value: Value, by: Value): Value => arithmetic("%", value, by);

const OF_ONE: Readonly<Record<string, Test>> = {
  odd: (value) => equal(modulo(value, 2n), 1n),
  even: (value) => equal(modulo(value, 2n), 0n),
  defined: (value) => !(value instanceof Undefined),
  undefined: (value) => value instanceof Undefined,
  filter: (value) => typeof value === "string" && FILTER_NAMES.includes(value),
  test: (value) => typeof value === "string" && (Object.hasOwn(OF_ONE, value) || Object.hasOwn(OF_TWO, value)), // prettier-ignore
  none: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  false: (value) => value === false,
  true: (value) => value === true,
  integer: isInteger,
  float: (value) => typeof value === "number",
  lower: (value) => /\p{Lowercase}/u.test(str(value)) && !/[\p{Uppercase}\p{Lt}]/u.test(str(value)),
  upper: (value) => /\p{Uppercase}/u.test(str(value)) && !/[\p{Lowercase}\p{Lt}]/u.test(str(value)),
  string: (value) => typeof value === "string" || value instanceof SafeText,
  mapping: (value) => value instanceof Dict,
  number: isNumber,
  sequence: (value) => (lengthOf(value) !== null && !/^dict_/.test(typeName(value))) || value instanceof SafeText, // prettier-ignore
  iterable: (value) => isIterable(value) || value instanceof SafeText || isLoop(value),
  callable: (value) => value instanceof Callable || value instanceof Undefined || isLoop(value),
  escaped: (value) => value instanceof SafeText,
};

const OF_TWO: Readonly<Record<string, Test>> = {
  divisibleby: (value, by) => equal(modulo(value, by), 0n),
  sameas: isSame,
  in: (value, container) => holds("in", value, container),
  ...comparison("==", "eq", "equalto"),
  ...comparison("!=", "ne"),
  ...comparison("<", "lt", "lessthan"),
  ...comparison("<=", "le"),
  ...comparison(">", "gt", "greaterthan"),
  ...comparison(">=", "ge"),
};

function comparison(operator: string, ...names: string[]): Record<string, Test> {
  const test: Test = (value, other) => holds(operator, value, other);
  return Object.fromEntries([operator, ...names].map((name) => [name, test]));
}

function isLoop(value: Value): boolean {
  return value instanceof Members && value.kind === "LoopContext";
}

/** Whether Python would hold one object for both: known of constants and of what is made once. */
function isSame(value: Value, other: Value): boolean {
  const constant = (each: Value): boolean => each === null || typeof each === "boolean";
  if (constant(value) || constant(other)) return value === other;
  if (typeName(value) !== typeName(other)) return false;
  if (typeof value === "object" && value === other) return true;
  throw unsupported(`sameas of two values of type ${typeName(value)}`);
}

export function passes(name: string, value: Value, { positional, named }: Given): boolean {
  const [one, two] = [own(OF_ONE, name), own(OF_TWO, name)];
  if (one === undefined && two === undefined) throw wrong(`no test named '${name}'`);
  const names = two === undefined ? [] : ["/other"];
  const [other = null] = argumentsOf(`the test ${name}`, names, names.length, { positional, named: renamed(named, name) }); // prettier-ignore
  return isTrue((one ?? two ?? (() => false))(value, other));
}

/** `divisibleby(num=3)` and `in(seq=…)`: the names of the only argument. */
function renamed(named: Given["named"], test: string): Given["named"] {
  const known: Record<string, string> = { divisibleby: "num", sameas: "other", in: "seq" };
  return new Map([...named].map(([name, value]) => [known[test] === name ? "/other" : name, value])); // prettier-ignore
}

function own(tests: Readonly<Record<string, Test>>, name: string): Test | undefined {
  return Object.hasOwn(tests, name) ? tests[name] : undefined;
}

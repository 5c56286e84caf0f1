import { attribute, item, namedOf } from "./attributes.ts";
import { filtered } from "./filters.ts";
import type { Arguments, Expression } from "./nodes.ts";
import { arithmetic, concat, holds, numberOf, sliced } from "./operators.ts";
import type { Scope } from "./scope.ts";
import { passes } from "./tests.ts";
import { Callable, Dict, type Given, Members, TemplateFault, Tuple, Undefined, type Value, isTrue, itemsOf, spend, typeName, wrong } from "./values.ts"; // prettier-ignore
import { str } from "./written.ts";

/** The value of an expression. @throws {TemplateFault} with its line. */
export function evaluate(node: Expression, scope: Scope): Value {
  spend();
  try {
    return valueOfNode(node, scope);
  } catch (error) {
    if (error instanceof TemplateFault) error.line ??= node.line;
    throw error;
  }
}

function valueOfNode(node: Expression, scope: Scope): Value {
  switch (node.kind) {
    case "constant":
      return node.value;
    case "name":
      return scope.get(node.name) ?? named(node.name, scope);
    case "list":
      return node.items.map((each) => evaluate(each, scope));
    case "tuple":
      return new Tuple(node.items.map((each) => evaluate(each, scope)));
    case "dict": {
      const dict = new Dict();
      for (const [key, value] of node.pairs) dict.set(evaluate(key, scope), evaluate(value, scope));
      return dict;
    }
    case "not":
      return !isTrue(evaluate(node.of, scope));
    case "negative":
    case "positive":
      return signed(node.kind, evaluate(node.of, scope));
    case "and":
    case "or": {
      const left = evaluate(node.left, scope);
      return isTrue(left) === (node.kind === "or") ? left : evaluate(node.right, scope);
    }
    case "arithmetic":
      return arithmetic(node.operator, evaluate(node.left, scope), evaluate(node.right, scope));
    case "compare":
      return compared(node, scope);
    case "concat":
      return node.parts.map((part) => str(evaluate(part, scope))).reduce(concat);
    case "conditional":
      if (isTrue(evaluate(node.test, scope))) return evaluate(node.then, scope);
      if (node.otherwise !== null) return evaluate(node.otherwise, scope);
      return new Undefined("the inline if-expression evaluated to false and no else section was defined"); // prettier-ignore
    case "attribute":
      return attribute(evaluate(node.of, scope), node.name);
    case "item":
      return item(evaluate(node.of, scope), evaluate(node.key, scope));
    case "slice": {
      const of = evaluate(node.of, scope);
      return sliced(of, node.bounds.map((bound) => (bound === null ? null : evaluate(bound, scope)))); // prettier-ignore
    }
    case "call": {
      const callee = evaluate(node.callee, scope);
      return called(callee, given(node.given, scope));
    }
    case "filter":
      return filtered(node.name, evaluate(node.of, scope), given(node.given, scope));
    case "test":
      return passes(node.name, evaluate(node.of, scope), given(node.given, scope));
  }
}

function named(name: string, scope: Scope): Value {
  return scope.get(name) === null ? null : new Undefined(`'${name}' is undefined`);
}

function signed(sign: "negative" | "positive", value: Value): Value {
  const number = numberOf(value);
  if (value instanceof Undefined) return value.fail();
  if (number === null) throw wrong(`bad operand type for a sign: '${typeName(value)}'`);
  return sign === "negative" ? -number : number;
}

function compared(node: Expression & { kind: "compare" }, scope: Scope): boolean {
  let left = evaluate(node.first, scope);
  for (const [operator, operand] of node.rest) {
    const right = evaluate(operand, scope);
    if (!holds(operator, left, right)) return false;
    left = right;
  }
  return true;
}

/** The arguments of a call, with those of `*list` and `**dict`. */
export function given({ positional, named: by, list, dict }: Arguments, scope: Scope): Given {
  const values = positional.map((each) => evaluate(each, scope));
  const pairs = by.map(([name, value]) => [name, evaluate(value, scope)] as const);
  if (list !== null) values.push(...itemsOf(evaluate(list, scope)));
  const all = new Map<string, Value>(pairs);
  if (all.size < pairs.length) throw wrong("keyword argument repeated");
  for (const [name, value] of dict === null ? [] : namedOf(evaluate(dict, scope))) {
    if (all.has(name)) throw wrong(`got multiple values for keyword argument '${name}'`);
    all.set(name, value);
  }
  return { positional: values, named: all };
}

export function called(callee: Value, call: Given): Value {
  if (callee instanceof Undefined) return callee.fail();
  if (callee instanceof Callable) return callee.call(call);
  if (callee instanceof Members && callee.call !== undefined) return callee.call(call);
  throw wrong(`'${typeName(callee)}' object is not callable`);
}

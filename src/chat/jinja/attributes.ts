import { at, equal, indexOf } from "./operators.ts";
import { argumentsOf, integerOf } from "./parameters.ts";
import { codePoints } from "./python-text.ts";
import { textMethod } from "./text-methods.ts";
import { Callable, Dict, Members, Tuple, Undefined, type Value, View, isIterable, itemsOf, sequenceOf, typeName, unsupported, wrong } from "./values.ts"; // prettier-ignore

/** What Python's sandbox hides, since it changes its object: a template sees these as undefined. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  list: ["append", "clear", "extend", "insert", "pop", "remove", "reverse", "sort"],
  dict: ["clear", "pop", "popitem", "setdefault", "update"],
};
const NUMBER = ["as_integer_ratio", "bit_count", "bit_length", "conjugate", "denominator", "from_bytes", "fromhex", "hex", "imag", "is_integer", "numerator", "real", "to_bytes"]; // prettier-ignore
const UNKNOWN: Readonly<Record<string, readonly string[]>> = {
  int: NUMBER,
  bool: NUMBER,
  float: NUMBER,
  dict: ["fromkeys"],
  range: ["start", "stop", "step"],
  function: ["name", "arguments", "catch_kwargs", "catch_varargs", "caller", "explicit_caller", "fromkeys"], // prettier-ignore
  generator: ["close", "send", "throw", "gi_code", "gi_frame", "gi_running", "gi_suspended", "gi_yieldfrom"], // prettier-ignore
  dict_keys: ["isdisjoint", "mapping"],
  dict_values: ["mapping"],
  dict_items: ["isdisjoint", "mapping"], // prettier-ignore
};

/** `of.name`: an attribute or method, else the key of that name. */
export function attribute(of: Value, name: string): Value {
  const found = pythonAttribute(of, name);
  if (found !== undefined) return found;
  const own = of instanceof Dict ? of.get(name) : undefined;
  return own === undefined ? new Undefined(`'${typeName(of)}' has no attribute '${name}'`) : own;
}

/** `of[key]`: an item, else, where the key is a text, the attribute of that name. */
export function item(of: Value, key: Value): Value {
  if (of instanceof Undefined) return of.fail();
  const found = ownItem(of, key);
  if (found !== undefined) return found;
  const named = typeof key === "string" ? pythonAttribute(of, key) : undefined;
  return named === undefined ? new Undefined(`'${typeName(of)}' has no such element`) : named;
}

function ownItem(of: Value, key: Value): Value | undefined {
  // A list as a key raises a TypeError, which jinja2 takes for a missing element.
  if (of instanceof Dict)
    return Array.isArray(key) || key instanceof Dict ? undefined : of.get(key);
  const index = indexOf(key);
  if (index === null) return undefined;
  if (typeof of === "string") return at(codePoints(of), index);
  const items = sequenceOf(of);
  return items === null ? undefined : at(items, index);
}

/** An attribute of Python's own type; undefined where it has none. @throws {TemplateFault} */
export function pythonAttribute(of: Value, name: string): Value | undefined {
  if (of instanceof Undefined) return of.fail();
  if (of instanceof Members) return of.get(name);
  if (name.startsWith("__")) throw unsupported(`the attribute ${name}`);
  if (typeof of === "string") return textMethod(of, name);
  const type = typeName(of);
  if (CHANGES[type]?.includes(name)) return new Undefined(`access to attribute '${name}' of '${type}' object is unsafe`); // prettier-ignore
  if (UNKNOWN[type]?.includes(name) || type === "Markup") throw unsupported(`the attribute ${name} of ${type}`); // prettier-ignore
  if (of instanceof Dict) return dictMethod(of, name);
  const items = sequenceOf(of);
  if (items === null) return undefined;
  if (of instanceof Tuple && of.names.includes(name)) return items[of.names.indexOf(name)];
  return listMethod(of, items, name);
}

function dictMethod(dict: Dict, name: string): Callable | undefined {
  const method = (
    names: string[],
    required: number,
    call: (args: (Value | undefined)[]) => Value,
  ): Callable => new Callable(name, (given) => call(argumentsOf(name, names, required, given)));
  switch (name) {
    case "get":
      return method(["/key", "/default"], 1, ([key = null, absent = null]) => {
        const found = dict.get(key);
        return found === undefined ? absent : found;
      }); // prettier-ignore
    case "keys":
    case "values":
    case "items":
      return method([], 0, () => new View(dict, name));
    case "copy":
      return method([], 0, () => dictOf(dict));
    default:
      return undefined;
  }
}

function listMethod(of: Value, items: readonly Value[], name: string): Callable | undefined {
  switch (name) {
    case "count":
      return new Callable(name, (given) => {
        const [wanted = null] = argumentsOf(name, ["/value"], 1, given);
        return BigInt(items.filter((each) => equal(each, wanted)).length);
      });
    case "index":
      return new Callable(name, (given) => {
        const [wanted = null, start = 0n, ...more] = argumentsOf(name, ["/value", "/start", "/stop"], 1, given); // prettier-ignore
        if (integerOf(start, name) < 0 || more.length > 0) throw unsupported("index with a stop");
        const found = items.findIndex((each, i) => i >= Number(start) && equal(each, wanted));
        if (found < 0) throw wrong("the value is not in the list");
        return BigInt(found);
      });
    case "copy":
      return Array.isArray(of) ? new Callable(name, (given) => (argumentsOf(name, [], 0, given), [...items])) : undefined; // prettier-ignore
    default:
      return undefined;
  }
}

/** A copy of a dict, or a dict of pairs. */
export function dictOf(source: Value): Dict {
  const dict = new Dict();
  const pairs = source instanceof Dict ? source.pairs() : itemsOf(source);
  for (const pair of pairs) {
    const isPair = Array.isArray(pair) || isIterable(pair);
    const [key, value, ...more] = isPair ? [...(Array.isArray(pair) ? pair : itemsOf(pair))] : [];
    if (key === undefined || value === undefined || more.length > 0) throw wrong("dict needs pairs"); // prettier-ignore
    dict.set(key, value);
  }
  return dict;
}

/** `copy` of arguments `*list` and `**dict`. */
export function namedOf(value: Value): [string, Value][] {
  if (value instanceof Undefined) return value.fail();
  if (!(value instanceof Dict)) throw wrong(`argument after ** must be a mapping, not ${typeName(value)}`); // prettier-ignore
  return Array.from(value.pairs(), ([key, each]) => {
    if (typeof key !== "string") throw wrong("keywords must be strings");
    return [key, each];
  });
}

import { codePoints } from "./python-text.ts";

/** A value of a template. int is bigint and float is number: Python tells 1 from 1.0, a list from a tuple and a list from a generator. */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Value[]
  | Tuple
  | Range
  | Dict
  | View
  | Lazy
  | Undefined
  | Callable
  | Members
  | SafeText;

/** The value of a name or key that does not exist. */
export class Undefined {
  readonly what: string;
  constructor(what: string) {
    this.what = what;
  }
  fail(): never {
    throw wrong(this.what);
  }
}

export class Tuple {
  readonly items: readonly Value[];
  readonly names: readonly string[];
  constructor(items: readonly Value[], names: readonly string[] = []) {
    this.items = items;
    this.names = names;
  }
}

/** `range(…)`: its items, and how it prints. */
export class Range {
  readonly items: readonly Value[];
  readonly shown: string;
  constructor(items: readonly Value[], shown: string) {
    this.items = items;
    this.shown = shown;
  }
}

/** A dict: insertion order, and Python's equality of keys (1, 1.0 and True are one). */
export class Dict {
  readonly #pairs = new Map<string, [Value, Value]>();
  get size(): number {
    return this.#pairs.size;
  }
  get(key: Value): Value | undefined {
    return this.#pairs.get(hash(key))?.[1];
  }
  set(key: Value, value: Value): void {
    const hashed = hash(key);
    const pair = this.#pairs.get(hashed);
    if (pair === undefined) this.#pairs.set(hashed, [key, value]);
    else pair[1] = value;
  }
  pairs(): IterableIterator<[Value, Value]> {
    return this.#pairs.values();
  }
}

/** `dict.keys()`, `.values()`, `.items()`. */
export class View {
  readonly of: Dict;
  readonly kind: "keys" | "values" | "items";
  constructor(of: Dict, kind: View["kind"]) {
    this.of = of;
    this.kind = kind;
  }
  *[Symbol.iterator](): Generator<Value> {
    for (const [key, value] of this.of.pairs()) {
      if (this.kind === "items") yield new Tuple([key, value]);
      else yield this.kind === "keys" ? key : value;
    }
  }
}

/** A generator: always true, without a length, and empty after it was read once. */
export class Lazy {
  readonly iterator: Iterator<Value>;
  constructor(items: Iterable<Value>) {
    this.iterator = items[Symbol.iterator]();
  }
}

/** Arguments of a call: by place and by name. */
export interface Given {
  readonly positional: readonly Value[];
  readonly named: ReadonlyMap<string, Value>;
}

export class Callable {
  readonly name: string;
  readonly call: (given: Given) => Value;
  constructor(name: string, call: (given: Given) => Value) {
    this.name = name;
    this.call = call;
  }
}

/** Something with attributes alone: a namespace, or `loop`. */
export class Members {
  readonly kind: "Namespace" | "LoopContext";
  readonly get: (name: string) => Value | undefined;
  /** Absent: nothing can be assigned. */
  readonly set: ((name: string, value: Value) => void) | undefined;
  readonly call: Callable["call"] | undefined;
  constructor(
    kind: Members["kind"],
    of: Pick<Members, "get"> & Partial<Pick<Members, "set" | "call">>,
  ) {
    this.kind = kind;
    this.get = of.get;
    this.set = of.set;
    this.call = of.call;
  }
}

/** A text of the filters `safe` and `escape`. It prints as the text does; what else Python does with it is not supported. */
export class SafeText {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Names a key so that equal keys have one name. @throws {TemplateFault} for lists and dicts, as in Python. */
export function hash(key: Value): string {
  spend();
  if (typeof key === "string") return `s${key}`;
  if (typeof key === "boolean") return `n${key ? 1 : 0}`;
  if (typeof key === "bigint") return `n${key}`;
  if (typeof key === "number") return Number.isInteger(key) ? `n${BigInt(key)}` : `f${key}`;
  if (key === null) return "N";
  if (key instanceof Undefined) return "U";
  if (key instanceof Tuple) return `t${JSON.stringify(key.items.map(hash))}`;
  if (Array.isArray(key) || key instanceof Dict) throw wrong(`unhashable type: '${typeName(key)}'`);
  throw unsupported(`a ${typeName(key)} as a key`);
}

export function typeName(value: Value): string {
  if (value === null) return "NoneType";
  switch (typeof value) {
    case "string":
      return "str";
    case "boolean":
      return "bool";
    case "bigint":
      return "int";
    case "number":
      return "float";
    default:
  }
  if (Array.isArray(value)) return "list";
  if (value instanceof Tuple) return "tuple";
  if (value instanceof Range) return "range";
  if (value instanceof Dict) return "dict";
  if (value instanceof View) return `dict_${value.kind}`;
  if (value instanceof Lazy) return "generator";
  if (value instanceof Undefined) return "Undefined";
  if (value instanceof SafeText) return "Markup";
  return value instanceof Members ? value.kind : "function";
}

export function isTrue(value: Value): boolean {
  if (typeof value === "object" && value !== null) {
    if (value instanceof Undefined) return false;
    if (value instanceof SafeText) return value.text !== "";
    return lengthOf(value) !== 0;
  }
  return Boolean(value) && value !== 0n;
}

/** `len`, or null for what has none. */
export function lengthOf(value: Value): number | null {
  if (typeof value === "string") return codePoints(value).length;
  if (Array.isArray(value)) return value.length;
  if (value instanceof Tuple || value instanceof Range) return value.items.length;
  if (value instanceof Dict) return value.size;
  if (value instanceof View) return value.of.size;
  return value instanceof Undefined ? 0 : null;
}

/** `iter`: every item costs a step. @throws {TemplateFault} for what cannot be iterated over. */
export function* itemsOf(value: Value): Generator<Value, void> {
  for (const item of plainItems(value)) {
    spend();
    yield item;
  }
}

export function isIterable(value: Value): boolean {
  if (typeof value === "string" || value instanceof Lazy) return true;
  return lengthOf(value) !== null;
}

function plainItems(value: Value): Iterable<Value> {
  if (typeof value === "string") return value;
  if (Array.isArray(value) || value instanceof View) return value;
  if (value instanceof Tuple || value instanceof Range) return value.items;
  if (value instanceof Dict) return new View(value, "keys");
  // Not closed when a loop ends early: a generator goes on where it was left.
  if (value instanceof Lazy)
    return { [Symbol.iterator]: () => ({ next: () => value.iterator.next() }) };
  if (value instanceof Undefined) return [];
  if (value instanceof SafeText) return value.text;
  throw wrong(`'${typeName(value)}' object is not iterable`);
}

/** The items of a list or tuple; null for all else. */
export function sequenceOf(value: Value): readonly Value[] | null {
  if (Array.isArray(value)) return value;
  return value instanceof Tuple || value instanceof Range ? value.items : null;
}

/** JSON as a template sees it; whole numbers are int. @throws {TemplateFault} for numbers that JavaScript does not hold exactly. */
export function valueOf(given: unknown): Value {
  if (given === undefined || given === null) return null;
  if (typeof given === "string" || typeof given === "boolean") return given;
  if (typeof given === "number") {
    if (!Number.isInteger(given)) return given;
    if (Number.isSafeInteger(given)) return BigInt(given);
    throw unsupported(`the number ${given}, which is not exact here`);
  }
  if (Array.isArray(given)) return given.map(valueOf);
  if (given instanceof Callable) return given;
  if (typeof given !== "object") throw unsupported(`a ${typeof given} as a variable`);
  const dict = new Dict();
  for (const [key, value] of Object.entries(given)) if (value !== undefined) dict.set(key, valueOf(value)); // prettier-ignore
  return dict;
}

/** What stops a template, without its file and line: the renderer adds them. */
export class TemplateFault extends Error {
  /** wrong: jinja2 fails too. unsupported: jinja2 knows this, we do not. endless: past a limit. refused: the template's `raise_exception`. */
  readonly kind: "wrong" | "unsupported" | "endless" | "refused";
  line: number | undefined;

  constructor(kind: TemplateFault["kind"], message: string, line?: number) {
    super(message);
    this.kind = kind;
    this.line = line;
  }
}

export function wrong(message: string, line?: number): TemplateFault {
  return new TemplateFault("wrong", message, line);
}

/** @param construct as a template's author would call it. */
export function unsupported(construct: string, line?: number): TemplateFault {
  return new TemplateFault("unsupported", construct, line);
}

/** Steps of one rendering: evaluated expressions, visited items, and 16 characters of text each. */
const STEPS = 2 ** 22;
/** Characters of a text and items of a list. */
const LENGTH = 2 ** 24;

/** Rendering is synchronous, so one counter serves all. */
let left = STEPS;

/** Runs one rendering with steps of its own. */
export function withSteps<T>(work: () => T): T {
  left = STEPS;
  return work();
}

/** @throws {TemplateFault} endless */
export function spend(steps = 1): void {
  left -= steps;
  if (left < 0) throw new TemplateFault("endless", `more than ${STEPS} steps`);
}

/** Call before a text or list of that length is made. @throws {TemplateFault} endless */
export function requireLength(length: number): void {
  if (length > LENGTH)
    throw new TemplateFault("endless", `a text or list of more than ${LENGTH} characters or items`);
  spend(length / 16);
}

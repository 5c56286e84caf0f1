import type { Value } from "./values.ts";

/** Names of a block, and those around it. What a block sets, it sets in its own scope. */
export class Scope {
  readonly #names = new Map<string, Value>();
  readonly #outer: Scope | null;

  constructor(outer: Scope | null = null) {
    this.#outer = outer;
  }

  get(name: string): Value | undefined {
    return this.#names.get(name) ?? (this.#names.has(name) ? null : this.#outer?.get(name));
  }

  set(name: string, value: Value): void {
    this.#names.set(name, value);
  }
}

/** The filters that jinja2 has, supported here or not: for the test `filter`, and to tell an unknown filter from an unsupported one. */
export const FILTER_NAMES: readonly string[] = [
  ...["abs", "attr", "batch", "capitalize", "center", "count", "d", "default", "dictsort", "e"],
  ...["escape", "filesizeformat", "first", "float", "forceescape", "format", "groupby", "indent"],
  ...["int", "items", "join", "last", "length", "list", "lower", "map", "max", "min", "pprint"],
  ...["random", "reject", "rejectattr", "replace", "reverse", "round", "safe", "select"],
  ...["selectattr", "slice", "sort", "string", "striptags", "sum", "title", "tojson", "trim"],
  ...["truncate", "unique", "upper", "urlencode", "urlize", "wordcount", "wordwrap", "xmlattr"],
];

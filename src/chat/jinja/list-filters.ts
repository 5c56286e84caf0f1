import { item } from "./attributes.ts";
import { arithmetic, compare, equal } from "./operators.ts";
import { argumentsOf, integerOf, textOf } from "./parameters.ts";
import { passes } from "./tests.ts";
import { type Given, Lazy, SafeText, Tuple, Undefined, type Value, hash, isTrue, itemsOf, lengthOf, requireLength, typeName, unsupported, wrong } from "./values.ts"; // prettier-ignore

type Apply = (name: string, subject: Value, given: Given) => Value;
type ListFilter = (subject: Value, given: Given, apply: Apply) => Value;
type Args = readonly (Value | undefined)[];

/** Filters of what can be iterated over. Those that are generators in Python are read when their items are wanted, and once. */
export const LIST_FILTERS: Readonly<Record<string, ListFilter>> = {
  batch: named("batch", ["linecount", "fill_with"], 1, (value, [count = null, fill = null]) =>
    new Lazy(batches(value, integerOf(count, "batch"), fill))), // prettier-ignore
  first: named("first", [], 0, (value) => {
    const { done, value: item } = itemsOf(value).next();
    return done === true ? new Undefined("No first item, sequence was empty.") : item;
  }), // prettier-ignore
  groupby: named("groupby", ["attribute", "default", "case_sensitive"], 1, groups),
  last: named("last", [], 0, (value) => {
    const [item] = backwards(value, "last");
    return item === undefined ? new Undefined("No last item, sequence was empty.") : item;
  }), // prettier-ignore
  list: named("list", [], 0, (value) => [...itemsOf(value)]),
  map: (value, given, apply) => new Lazy(mapped(value, given, apply)),
  max: named("max", ["case_sensitive", "attribute"], 0, extreme(1)),
  min: named("min", ["case_sensitive", "attribute"], 0, extreme(-1)),
  reject: picking(false, false),
  rejectattr: picking(false, true),
  reverse: named("reverse", [], 0, reversed),
  select: picking(true, false),
  selectattr: picking(true, true),
  slice: named("slice", ["slices", "fill_with"], 1, (value, [count = null, fill = null]) =>
    new Lazy(slices(value, integerOf(count, "slice"), fill))), // prettier-ignore
  sort: named("sort", ["reverse", "case_sensitive", "attribute"], 0, sorted),
  sum: named("sum", ["attribute", "start"], 0, (value, [path = null, start = 0n]) => {
    if (typeof start === "string") throw wrong("sum() can't sum strings");
    const read = getter(path);
    return [start, ...Array.from(itemsOf(value), read)].reduce((total, item) => {
      // Python 3.12 and later round otherwise than Python before it.
      if (typeof item === "number") throw unsupported("the sum of floats");
      return arithmetic("+", total, item);
    });
  }), // prettier-ignore
  unique: named("unique", ["case_sensitive", "attribute"], 0, (value, [sensitive, path]) =>
    new Lazy(unique(value, keyOf(sensitive, path)))), // prettier-ignore
};

function named(
  name: string,
  names: readonly string[],
  required: number,
  call: (subject: Value, args: Args) => Value,
): ListFilter {
  return (subject, given) => call(subject, argumentsOf(`the filter ${name}`, names, required, given)); // prettier-ignore
}

function keyOf(
  sensitive: Value = false,
  path: Value = null,
  absent: Value = null,
): (item: Value) => Value {
  const read = getter(path, absent);
  return isTrue(sensitive) ? read : (item) => folded(read(item));
}

function* batches(value: Value, size: number, fill: Value): Generator<Value> {
  let batch: Value[] = [];
  for (const item of itemsOf(value)) {
    if (batch.length === size) {
      yield batch;
      batch = [];
    }
    batch.push(item);
  }
  if (batch.length === 0) return;
  if (fill !== null && batch.length < size) {
    requireLength(size);
    batch.push(...Array.from({ length: size - batch.length }, () => fill));
  }
  yield batch;
}

function* slices(value: Value, count: number, fill: Value): Generator<Value> {
  const items = [...itemsOf(value)];
  if (count === 0) throw wrong("division by zero");
  requireLength(Math.max(0, count) * 16);
  const each = Math.floor(items.length / count);
  const longer = items.length % count;
  for (let i = 0, start = 0; i < count; i += 1) {
    const slice = items.slice(start, start + each + (i < longer ? 1 : 0));
    start += slice.length;
    if (fill !== null && i >= longer) slice.push(fill);
    yield slice;
  }
}

function groups(value: Value, [path = null, absent = null, sensitive]: Args): Value {
  const key = keyOf(sensitive, path, absent);
  const keyed = Array.from(itemsOf(value), (item) => ({ item, key: key(item) }));
  keyed.sort((a, b) => compare(a.key, b.key));
  const found: { key: Value; items: Value[] }[] = [];
  for (const each of keyed) {
    const open = found.at(-1);
    if (open !== undefined && equal(open.key, each.key)) open.items.push(each.item);
    else found.push({ key: each.key, items: [each.item] });
  }
  // The key as the first item has it, not as it was compared.
  const own = getter(path, absent);
  return found.map(({ items }) => new Tuple([own(items[0] ?? null), items], ["grouper", "list"]));
}

function backwards(value: Value, filter: string): Value[] {
  if (value instanceof Lazy || value instanceof SafeText || lengthOf(value) === null) throw wrong(`${filter}: '${typeName(value)}' object is not reversible`); // prettier-ignore
  return [...itemsOf(value)].reverse();
}

function reversed(value: Value): Value {
  if (value instanceof SafeText) throw unsupported("reverse of a text of safe or escape");
  if (typeof value === "string") return Array.from(value).reverse().join("");
  if (value instanceof Lazy) return [...itemsOf(value)].reverse();
  return new Lazy(backwards(value, "reverse"));
}

function sorted(value: Value, [reverse = false, sensitive, path = null]: Args): Value {
  const paths = typeof path === "string" ? path.split(",") : [path];
  const keys = paths.map((each) => keyOf(sensitive, each));
  const sign = isTrue(reverse) ? -1 : 1;
  const keyed = Array.from(itemsOf(value), (item) => ({ item, key: keys.map((key) => key(item)) }));
  if (keyed.some(({ key }) => key.some((part) => typeof part === "number" && Number.isNaN(part)))) throw unsupported("sorting nan"); // prettier-ignore
  return keyed.sort((a, b) => sign * compare(a.key, b.key)).map(({ item }) => item);
}

function extreme(sign: 1 | -1): (value: Value, args: Args) => Value {
  return (value, [sensitive, path]) => {
    const key = keyOf(sensitive, path);
    let best: { item: Value; key: Value } | undefined;
    for (const item of itemsOf(value)) {
      const own = key(item);
      if (best === undefined || sign * compare(own, best.key) > 0) best = { item, key: own };
    }
    return best === undefined ? new Undefined("No aggregated item, sequence was empty.") : best.item; // prettier-ignore
  };
}

function* unique(value: Value, key: (item: Value) => Value): Generator<Value> {
  const seen = new Set<string>();
  for (const item of itemsOf(value)) {
    const own = hash(key(item));
    if (!seen.has(own)) yield item;
    seen.add(own);
  }
}

function* mapped(value: Value, { positional, named: by }: Given, apply: Apply): Generator<Value> {
  if (!isTrue(value)) return;
  const [name, ...rest] = positional;
  let read: (item: Value) => Value;
  if (name === undefined) {
    const [path, absent] = argumentsOf("the filter map", ["attribute", "default"], 1, { positional, named: by }); // prettier-ignore
    read = getter(path ?? null, absent);
  } else {
    const filter = textOf(name, "map");
    read = (item) => apply(filter, item, { positional: rest, named: by });
  }
  for (const item of itemsOf(value)) yield read(item);
}

function picking(kept: boolean, byAttribute: boolean): ListFilter {
  return (value, given) => new Lazy(picked(value, given, kept, byAttribute));
}

function* picked(
  value: Value,
  { positional, named: by }: Given,
  kept: boolean,
  byAttribute: boolean,
): Generator<Value> {
  if (!isTrue(value)) return;
  const [path] = positional;
  if (byAttribute && path === undefined) throw wrong("missing parameter for attribute name");
  const read = byAttribute ? getter(path ?? null) : (item: Value) => item;
  const [test, ...rest] = byAttribute ? positional.slice(1) : positional;
  const given = { positional: rest, named: by };
  for (const item of itemsOf(value)) {
    const own = read(item);
    const fits = test === undefined ? isTrue(own) : passes(textOf(test, "select"), own, given);
    if (fits === kept) yield item;
  }
}

/** Reads an attribute by a path such as `a.b.0`. @param absent for what is undefined on the way; none where null. */
export function getter(path: Value, absent: Value = null): (of: Value) => Value {
  const keys: Value[] =
    typeof path === "string"
      ? path.split(".").map((part) => (/^\d+$/.test(part) ? BigInt(part) : part))
      : path === null
        ? []
        : [path];
  return (of) =>
    keys.reduce<Value>((value, key) => {
      const found = item(value, key);
      return absent !== null && found instanceof Undefined ? absent : found;
    }, of);
}

/** What sorting and grouping compare without regard of case. */
export function folded(value: Value): Value {
  return typeof value === "string" ? value.toLowerCase() : value;
}

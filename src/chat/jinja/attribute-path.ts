import { item } from "./attributes.ts";
import { Undefined, type Value } from "./values.ts";

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

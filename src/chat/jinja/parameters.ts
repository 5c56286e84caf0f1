import { type Given, Undefined, type Value, typeName, wrong } from "./values.ts";

/** The arguments of a call in the order of their names; one that begins with `/` is known by its place alone. @throws {TemplateFault} */
export function argumentsOf(
  callee: string,
  names: readonly string[],
  required: number,
  { positional, named }: Given,
): (Value | undefined)[] {
  if (positional.length > names.length) throw wrong(`${callee} takes at most ${names.length} arguments, got ${positional.length}`); // prettier-ignore
  const values: (Value | undefined)[] = [...positional];
  for (const [name, value] of named) {
    const at = names.indexOf(name);
    if (at < 0) throw wrong(`${callee} has no argument "${name}"`);
    if (values[at] !== undefined) throw wrong(`${callee} got two values for "${name}"`);
    values[at] = value;
  }
  for (let i = 0; i < required; i += 1) {
    if (values[i] === undefined) throw wrong(`${callee} lacks its argument ${names[i]?.replace("/", "")}`); // prettier-ignore
  }
  return values;
}

/** @throws {TemplateFault} for all but texts. */
export function textOf(value: Value, callee: string): string {
  if (typeof value === "string") return value;
  if (value instanceof Undefined) return value.fail();
  throw wrong(`${callee}: ${typeName(value)} where a text is expected`);
}

/** @throws {TemplateFault} for all but whole numbers. */
export function integerOf(value: Value, callee: string): number {
  if (typeof value === "bigint") return Number(value);
  if (typeof value === "boolean") return value ? 1 : 0;
  if (value instanceof Undefined) return value.fail();
  throw wrong(`${callee}: ${typeName(value)} where a whole number is expected`);
}

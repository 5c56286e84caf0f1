import { evaluate } from "./evaluate.ts";
import { wrong } from "./faults.ts";
import type { Block, Signature } from "./nodes.ts";
import { Scope } from "./scope.ts";
import { Callable, Dict, Tuple, Undefined, type Value } from "./values.ts";

/** A macro, or the body of a `call` block. It sees the names around its definition, not those of its callers. */
export function macroOf(
  { signature, body }: { signature: Signature; body: Block },
  name: string,
  around: Scope,
  render: (block: Block, scope: Scope) => string,
): Callable {
  const { names, defaults } = signature;
  const mentions = mentioned(body);
  return new Callable(name, ({ positional, named }) => {
    const rest = new Map(named);
    const scope = new Scope(around);
    const missing = names.filter((each, i) => {
      const value = positional[i] ?? (i < positional.length ? null : rest.get(each));
      if (i >= positional.length) rest.delete(each);
      if (value === undefined) return true;
      scope.set(each, value);
      return false;
    });
    if (mentions.has("caller") && !names.includes("caller")) {
      scope.set("caller", rest.get("caller") ?? new Undefined("No caller defined"));
      rest.delete("caller");
    }
    const further = positional.slice(names.length);
    if (mentions.has("kwargs")) scope.set("kwargs", dictFrom(rest));
    else
      for (const [each] of rest) throw wrong(`macro ${name} takes no keyword argument '${each}'`);
    if (mentions.has("varargs")) scope.set("varargs", new Tuple(further));
    else if (further.length > 0) throw wrong(`macro ${name} takes not more than ${names.length} argument(s)`); // prettier-ignore
    for (const each of missing) scope.set(each, new Undefined(`parameter '${each}' was not provided`)); // prettier-ignore
    for (const each of missing) {
      const fallback = defaults[names.indexOf(each) - (names.length - defaults.length)];
      if (fallback !== undefined) scope.set(each, evaluate(fallback, scope));
    }
    return render(body, scope);
  });
}

function dictFrom(named: ReadonlyMap<string, Value>): Dict {
  const dict = new Dict();
  for (const [name, value] of named) dict.set(name, value);
  return dict;
}

const SPECIAL = ["caller", "kwargs", "varargs"];

/** The special names that a body mentions: a macro takes further arguments only where it does. */
function mentioned(body: Block): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (node: unknown): void => {
    if (typeof node !== "object" || node === null) return;
    const { kind, name } = node as { kind?: unknown; name?: unknown };
    if (kind === "name" && typeof name === "string" && SPECIAL.includes(name)) found.add(name);
    for (const each of Object.values(node)) visit(each);
  };
  visit(body);
  return found;
}

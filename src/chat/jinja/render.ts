import { called, evaluate, given } from "./evaluate.ts";
import { filtered } from "./filters.ts";
import { Loop } from "./loop.ts";
import type { Block, Piped, Signature, Statement, Target } from "./nodes.ts";
import { Scope } from "./scope.ts";
import { Callable, Dict, Lazy, Members, TemplateFault, Tuple, Undefined, type Value, isTrue, itemsOf, requireLength, spend, wrong } from "./values.ts"; // prettier-ignore
import { str } from "./written.ts";

class Output {
  readonly #pieces: string[] = [];
  #length = 0;

  write(text: string): void {
    this.#length += text.length;
    spend(text.length / 16);
    if (this.#length > 2 ** 24) requireLength(this.#length);
    this.#pieces.push(text);
  }

  get text(): string {
    return this.#pieces.join("");
  }
}

type End = "break" | "continue" | null;

/** The text of a block. @param scope what it may see; what it sets stays in there. */
export function render(block: Block, scope: Scope): string {
  const output = new Output();
  const end = run(block, scope, output, 0);
  if (end !== null) throw wrong(`{% ${end} %} outside of a loop`);
  return output.text;
}

function run(block: Block, scope: Scope, output: Output, depth: number): End {
  for (const statement of block) {
    spend();
    try {
      const end = step(statement, scope, output, depth);
      if (end !== null) return end;
    } catch (error) {
      if (error instanceof TemplateFault) error.line ??= statement.line;
      throw error;
    }
  }
  return null;
}

function step(statement: Statement, scope: Scope, output: Output, depth: number): End {
  switch (statement.kind) {
    case "data":
      output.write(statement.text);
      return null;
    case "print":
      output.write(str(evaluate(statement.value, scope)));
      return null;
    case "if": {
      const found = statement.tests.find(([test]) => isTrue(evaluate(test, scope)));
      return run(found?.[1] ?? statement.otherwise, scope, output, depth);
    }
    case "for":
      loop(statement, evaluate(statement.iterable, scope), scope, output, depth);
      return null;
    case "set":
      assign(statement.target, evaluate(statement.value, scope), scope);
      return null;
    case "setBlock": {
      const text = render(statement.body, new Scope(scope));
      assign(statement.target, piped(text, statement.filters, scope), scope);
      return null;
    }
    case "filterBlock":
      output.write(str(piped(render(statement.body, new Scope(scope)), statement.filters, scope)));
      return null;
    case "with": {
      const inner = new Scope(scope);
      const values = statement.targets.map(([, value]) => evaluate(value, scope));
      statement.targets.forEach(([target], i) => {
        assign(target, values[i] ?? null, inner);
      });
      return run(statement.body, inner, output, depth);
    }
    case "macro":
      scope.set(statement.name, macroOf(statement, statement.name, scope, render));
      return null;
    case "callBlock": {
      const caller = macroOf(statement, "caller", scope, render);
      const { callee, given: by } = statement.call;
      const { positional, named } = given(by, scope);
      const call = { positional, named: new Map([...named, ["caller", caller] as const]) };
      output.write(str(called(evaluate(callee, scope), call)));
      return null;
    }
    case "generation":
      // To transformers this is the body of a call, with names of its own.
      output.write(render(statement.body, new Scope(scope)));
      return null;
    case "break":
    case "continue":
      return statement.kind;
  }
}

type For = Statement & { kind: "for" };

function loop(node: For, iterable: Value, scope: Scope, output: Output, depth: number): void {
  const { test } = node;
  const items = test === null ? iterable : new Lazy(tested(node.target, test, iterable, scope));
  const recurse = (inner: Value): string => {
    const own = new Output();
    loop(node, inner, scope, own, depth + 1);
    return own.text;
  };
  const state = new Loop(items, depth, node.recursive ? recurse : undefined);
  let ran = false;
  for (let item = state.next(); item !== undefined; item = state.next()) {
    ran = true;
    const inner = new Scope(scope);
    inner.set("loop", state.members);
    assign(node.target, item, inner);
    if (run(node.body, inner, output, depth) === "break") break;
  }
  if (!ran) run(node.otherwise, new Scope(scope), output, depth);
}

function* tested(
  target: Target,
  test: NonNullable<For["test"]>,
  items: Value,
  scope: Scope,
): Generator<Value> {
  for (const item of itemsOf(items)) {
    const inner = new Scope(scope);
    assign(target, item, inner);
    if (isTrue(evaluate(test, inner))) yield item;
  }
}

function piped(text: string, filters: readonly Piped[], scope: Scope): Value {
  return filters.reduce<Value>((value, { name, given: by }) => filtered(name, value, given(by, scope)), text); // prettier-ignore
}

function assign(target: Target, value: Value, scope: Scope): void {
  if (target.kind === "name") {
    scope.set(target.name, value);
    return;
  }
  if (target.kind === "member") {
    const namespace = scope.get(target.of);
    const set = namespace instanceof Members ? namespace.set : undefined;
    if (set === undefined) throw wrong("cannot assign attribute on non-namespace object");
    set(target.name, value);
    return;
  }
  const items = [...itemsOf(value)];
  if (items.length !== target.items.length) throw wrong(`${items.length} values to unpack where ${target.items.length} are expected`); // prettier-ignore
  target.items.forEach((each, i) => {
    assign(each, items[i] ?? null, scope);
  });
}

/** A macro, or the body of a `call` block. It sees the names around its definition, not those of its callers. */
function macroOf(
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

/** An expression, with the line that its author finds it at. */
export type Expression = { readonly line: number } & (
  | { kind: "constant"; value: null | boolean | bigint | number | string }
  | { kind: "name"; name: string }
  | { kind: "list" | "tuple"; items: readonly Expression[] }
  | { kind: "dict"; pairs: readonly (readonly [Expression, Expression])[] }
  | { kind: "not" | "negative" | "positive"; of: Expression }
  | { kind: "and" | "or"; left: Expression; right: Expression }
  | { kind: "arithmetic"; operator: string; left: Expression; right: Expression }
  | {
      kind: "compare";
      first: Expression;
      rest: readonly (readonly [operator: string, Expression])[];
    }
  | { kind: "concat"; parts: readonly Expression[] }
  | { kind: "conditional"; test: Expression; then: Expression; otherwise: Expression | null }
  | { kind: "attribute"; of: Expression; name: string }
  | { kind: "item"; of: Expression; key: Expression }
  | { kind: "slice"; of: Expression; bounds: readonly (Expression | null)[] }
  | { kind: "call"; callee: Expression; given: Arguments }
  | { kind: "filter" | "test"; of: Expression; name: string; given: Arguments }
);

export interface Arguments {
  readonly positional: readonly Expression[];
  readonly named: readonly (readonly [string, Expression])[];
  readonly list: Expression | null;
  readonly dict: Expression | null;
}

/** What can be assigned to. */
export type Target =
  | { kind: "name"; name: string }
  | { kind: "tuple"; items: readonly Target[] }
  | { kind: "member"; of: string; name: string };

export interface Signature {
  readonly names: readonly string[];
  readonly defaults: readonly Expression[];
}

/** A filter without its subject, as `filter` and `set` blocks have it. */
export type Piped = { readonly name: string; readonly given: Arguments; readonly line: number };

export type Statement = { readonly line: number } & (
  | { kind: "data"; text: string }
  | { kind: "print"; value: Expression }
  | { kind: "if"; tests: readonly (readonly [Expression, Block])[]; otherwise: Block }
  | {
      kind: "for";
      target: Target;
      iterable: Expression;
      test: Expression | null;
      recursive: boolean;
      body: Block;
      otherwise: Block;
    }
  | { kind: "set"; target: Target; value: Expression }
  | { kind: "setBlock"; target: Target; filters: readonly Piped[]; body: Block }
  | { kind: "filterBlock"; filters: readonly Piped[]; body: Block }
  | { kind: "with"; targets: readonly (readonly [Target, Expression])[]; body: Block }
  | { kind: "macro"; name: string; signature: Signature; body: Block }
  | { kind: "callBlock"; signature: Signature; call: Expression & { kind: "call" }; body: Block }
  | { kind: "generation"; body: Block }
  | { kind: "break" | "continue" }
);

export type Block = readonly Statement[];

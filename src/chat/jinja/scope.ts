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

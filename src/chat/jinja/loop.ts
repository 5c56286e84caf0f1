import { equal } from "./operators.ts";
import { Callable, Members, Tuple, Undefined, type Value, itemsOf, lengthOf, wrong } from "./values.ts"; // prettier-ignore

/** The items of a `for` and its variable `loop`. It looks ahead only where a template asks for what comes. */
export class Loop {
  readonly members: Members;
  readonly #iterator: Iterator<Value, void>;
  readonly #depth: number;
  #length: number | null;
  #index = -1;
  #ahead: Value[] = [];
  #before: Value | undefined;
  #current: Value | undefined;
  #changed: Tuple | undefined;

  /** @param recurse renders the loop's body for other items; absent: the loop is not recursive. */
  constructor(iterable: Value, depth: number, recurse?: (items: Value) => string) {
    this.#iterator = itemsOf(iterable);
    this.#length = lengthOf(iterable);
    this.#depth = depth;
    this.members = new Members("LoopContext", {
      get: (name) => this.#member(name),
      call: ({ positional: [items, ...more], named }) => {
        if (recurse === undefined) throw wrong("the loop must have the 'recursive' marker to be called recursively"); // prettier-ignore
        if (items === undefined || more.length + named.size > 0) throw wrong("loop(…) takes one argument"); // prettier-ignore
        return recurse(items);
      },
    });
  }

  next(): Value | undefined {
    const item = this.#ahead.length > 0 ? this.#ahead.shift() : this.#read();
    if (item === undefined) return undefined;
    this.#index += 1;
    this.#before = this.#current;
    this.#current = item;
    return item;
  }

  #read(): Value | undefined {
    const { done, value } = this.#iterator.next();
    return done === true ? undefined : value;
  }

  #peek(): Value | undefined {
    if (this.#ahead.length === 0) {
      const item = this.#read();
      if (item !== undefined) this.#ahead.push(item);
    }
    return this.#ahead[0];
  }

  /** What has no length is read to its end. */
  #count(): number {
    if (this.#length === null) {
      for (let item = this.#read(); item !== undefined; item = this.#read()) this.#ahead.push(item);
      this.#length = this.#index + 1 + this.#ahead.length;
    }
    return this.#length;
  }

  #member(name: string): Value | undefined {
    switch (name) {
      case "index":
        return BigInt(this.#index + 1);
      case "index0":
        return BigInt(this.#index);
      case "revindex":
        return BigInt(this.#count() - this.#index);
      case "revindex0":
        return BigInt(this.#count() - this.#index - 1);
      case "length":
        return BigInt(this.#count());
      case "first":
        return this.#index === 0;
      case "last":
        return this.#peek() === undefined;
      case "previtem":
        return this.#before ?? (this.#index > 0 ? null : new Undefined("there is no previous item")); // prettier-ignore
      case "nextitem": {
        const item = this.#peek();
        return item === undefined ? new Undefined("there is no next item") : item;
      }
      case "depth":
        return BigInt(this.#depth + 1);
      case "depth0":
        return BigInt(this.#depth);
      case "cycle":
        return new Callable(name, ({ positional }) => {
          const item = positional[this.#index % positional.length];
          if (item === undefined) throw wrong("no items for cycling given");
          return item;
        });
      case "changed":
        return new Callable(name, ({ positional }) => {
          const values = new Tuple(positional);
          if (this.#changed !== undefined && equal(this.#changed, values)) return false;
          this.#changed = values;
          return true;
        });
      default:
        return undefined;
    }
  }
}

import { ConfigError } from "../../base/errors.ts";
import { leavesOf } from "../../base/leaves.ts";

type OriginOf = (keys: readonly string[]) => string;

/** Keys that choose what their object is: another choice means other siblings. */
const SELECTORS = ["name", "schedule"];

/** Settings built up layer by layer, each value with its origin. */
export class Layers {
  settings: unknown = {};
  readonly origins = new Map<string, string>();
  /** Keys whose value is null over a value of a layer below. */
  readonly removed = new Set<string>();

  /** Lays a value over what stands at a key path. */
  put(keys: readonly string[], value: unknown, originOf: OriginOf): void {
    this.settings = this.#at(this.settings, [], keys, value, originOf);
  }

  #at(
    base: unknown,
    done: readonly string[],
    keys: readonly string[],
    value: unknown,
    originOf: OriginOf,
  ): unknown {
    const [key, ...rest] = keys;
    if (key === undefined) return this.#merge(base, done, value, originOf);
    const here = [...done, key];
    if (Array.isArray(base)) {
      const items = base as unknown[];
      if (!/^\d+$/.test(key) || Number(key) >= items.length) {
        throw new ConfigError(
          "RECIPE_BAD_VALUE",
          `${originOf(here)}: ${here.join(".")}: ${done.join(".")} is a list of ${items.length}; expected a position in it, from 0, in place of "${key}".`,
        );
      }
      const item = this.#at(items[Number(key)], here, rest, value, originOf);
      return items.with(Number(key), item);
    }
    if (rest.length === 0) return this.#merge(base, done, { [key]: value }, originOf);
    const object = this.#asObject(base, done);
    return { ...object, [key]: this.#at(object[key], here, rest, value, originOf) };
  }

  #merge(base: unknown, done: readonly string[], value: unknown, originOf: OriginOf): unknown {
    if (isObject(value) && (isObject(base) || typeof base === "string")) {
      const object = this.#asObject(base, done);
      if (!SELECTORS.some((key) => key in value && key in object && value[key] !== object[key])) {
        const entries = Object.entries(value).map(([key, item]) => {
          const here = [...done, key];
          if (item === null && object[key] !== undefined) this.removed.add(here.join("."));
          return [key, this.#merge(object[key], here, item, originOf)];
        });
        return { ...object, ...(Object.fromEntries(entries) as object) };
      }
    }
    this.#forget(done);
    for (const [leaf] of leavesOf(value, done)) this.origins.set(leaf.join("."), originOf(leaf));
    return value;
  }

  /** Text in the place of an object is the short form of a part: `grpo` for `{ name: grpo }`. */
  #asObject(base: unknown, done: readonly string[]): Record<string, unknown> {
    if (isObject(base)) return base;
    const key = done.join(".");
    const origin = this.origins.get(key);
    this.#forget(done);
    if (typeof base !== "string") return {};
    if (origin !== undefined) this.origins.set(`${key}.name`, origin);
    return { name: base };
  }

  #forget(done: readonly string[]): void {
    const key = done.join(".");
    for (const known of this.origins.keys()) {
      if (done.length === 0 || known === key || known.startsWith(`${key}.`)) {
        this.origins.delete(known);
      }
    }
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

import { ConfigError, InternalError } from "./errors.ts";
import { suggest } from "./nearest.ts";

/** What every registered part carries, so that lists, help and hints are derived and never typed twice. */
export interface Part {
  /** File name = registered name = recipe value. */
  readonly name: string;
  /** One sentence for lists and help. */
  readonly summary: string;
}

export interface Registry<P extends Part> {
  readonly kind: string;
  readonly parts: readonly P[];
  readonly names: readonly string[];
  /**
   * The part of that name.
   * @param where the recipe key or flag that named it, for the message.
   * @throws {ConfigError} PART_UNKNOWN with the nearest name.
   */
  get(name: string, where: string): P;
}

/**
 * The one list of a kind of part. Explicit, so that the compiler sees it and the order is stable.
 * @throws {InternalError} PART_TWICE at start-up on two equal names.
 */
export function registry<P extends Part>(kind: string, parts: readonly P[]): Registry<P> {
  const byName = new Map<string, P>();
  for (const part of parts) {
    if (byName.has(part.name)) {
      throw new InternalError(
        "PART_TWICE",
        `registry of ${kind}s: "${part.name}" is registered twice.`,
      );
    }
    byName.set(part.name, part);
  }
  const names = [...byName.keys()];
  return {
    kind,
    parts,
    names,
    get(name, where) {
      const part = byName.get(name);
      if (part === undefined) {
        throw new ConfigError(
          "PART_UNKNOWN",
          `${where} is "${name}"; no such ${kind}. ${suggest(name, names)}`,
        );
      }
      return part;
    },
  };
}

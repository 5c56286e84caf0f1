import { ConfigError, InternalError } from "./errors.ts";
import { suggest } from "./nearest.ts";

/** Kinds of parts that a plugin may bring, by the helper that makes them. */
export const PART_KINDS = {
  reward: "defineReward",
  environment: "defineEnvironment",
  tool: "defineTool",
  protocol: "defineProtocol",
  "advantage estimator": "defineEstimator",
  loss: "defineLoss",
  strategy: "defineStrategy",
  retriever: "defineRetriever",
  sampler: "defineSampler",
  filter: "defineFilter",
} as const;

export type PartKind = keyof typeof PART_KINDS;

/** What every registered part carries, so that lists, help and hints are derived and never typed twice. */
export interface Part {
  /** File name = registered name = recipe value. */
  readonly name: string;
  /** One sentence for lists and help. */
  readonly summary: string;
  /** The registry that it belongs to, set by its define… helper; absent on parts that no plugin can bring. */
  readonly part?: PartKind;
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

/** Adds to the registry of a kind. Filled by `registry`; absent until a module with that registry is loaded. */
const openRegistries = new Map<string, (part: Part) => void>();

/** Parts of plugins whose registry is not loaded yet. */
const waiting: Part[] = [];

/**
 * The one list of a kind of part. Explicit, so that the compiler sees it and the order is stable; plugins add to it (`addPart`).
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
  const add = (part: Part): void => {
    const known = byName.get(part.name);
    if (known !== undefined && known !== part) {
      throw new ConfigError(
        "PLUGIN_BAD_PART",
        `there is a ${kind} "${part.name}" already. Give the plugin's another name.`,
      );
    }
    byName.set(part.name, part as P);
  };
  openRegistries.set(kind, add);
  for (const part of waiting.filter((each) => each.part === kind)) add(part);
  return {
    kind,
    get parts() {
      return [...byName.values()];
    },
    get names() {
      return [...byName.keys()];
    },
    get(name, where) {
      const part = byName.get(name);
      if (part === undefined) {
        throw new ConfigError(
          "PART_UNKNOWN",
          `${where} is "${name}"; no such ${kind}. ${suggest(name, [...byName.keys()])}`,
        );
      }
      return part;
    },
  };
}

/**
 * Adds a plugin's part to the registry of its kind, now or as soon as that registry is loaded.
 * @throws {ConfigError} PLUGIN_BAD_PART when the name is taken.
 */
export function addPart(part: Part & { part: PartKind }): void {
  waiting.push(part);
  openRegistries.get(part.part)?.(part);
}

import { ConfigError, InternalError } from "./errors.ts";
import { suggest } from "./nearest.ts";

/** The kinds of parts that a plugin may contain: the helper that makes one, and the function by which it is used. */
export const PART_KINDS = {
  reward: { helper: "defineReward", runs: "score" },
  environment: { helper: "defineEnvironment", runs: "create" },
  tool: { helper: "defineTool", runs: "create" },
  protocol: { helper: "defineProtocol", runs: "create" },
  "advantage estimator": { helper: "defineEstimator", runs: "estimate" },
  loss: { helper: "defineLoss", runs: "build" },
  strategy: { helper: "defineStrategy", runs: "run" },
  retriever: { helper: "defineRetriever", runs: "create" },
  sampler: { helper: "defineSampler", runs: "open" },
  filter: { helper: "defineFilter", runs: "keep" },
  metric: { helper: "defineMetric", runs: "score" },
} as const;

export type PartKind = keyof typeof PART_KINDS;

/** The fields of every registered part. Lists, help and hints are derived from them. */
export interface Part {
  /** File name = registered name = recipe value. */
  readonly name: string;
  /** One sentence for lists and help. */
  readonly summary: string;
  /** The kind of registry, set by its define… helper; absent for kinds that plugins cannot extend. */
  readonly part?: PartKind;
}

export interface Registry<P extends Part> {
  readonly kind: string;
  readonly parts: readonly P[];
  readonly names: readonly string[];
  /**
   * The part with this name.
   * @param where the recipe key or flag with the name, for the message.
   * @throws {ConfigError} PART_UNKNOWN with the nearest name.
   */
  get(name: string, where: string): P;
}

/** The registries of the modules loaded so far, by kind. */
const openRegistries = new Map<string, { add(part: Part): void; has(name: string): boolean }>();

/** Plugin parts whose registry is not loaded yet. */
const waiting: Part[] = [];

/**
 * The list of all parts of a kind. It is explicit, so that the compiler checks it and the order is stable; `addPart` adds those of plugins.
 * @throws {InternalError} PART_TWICE at start-up when two parts have the same name.
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
        `the ${kind} "${part.name}" already exists. Rename the plugin's part.`,
      );
    }
    byName.set(part.name, part as P);
  };
  openRegistries.set(kind, { add, has: (name) => byName.has(name) });
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
 * Adds a plugin's part to the registry of its kind, now or when that registry loads.
 * @throws {ConfigError} PLUGIN_BAD_PART when the name is taken.
 */
export function addPart(part: Part & { part: PartKind }): void {
  waiting.push(part);
  openRegistries.get(part.part)?.add(part);
}

/** Whether a registry that is loaded has a part of this name. */
export function isPart(kind: PartKind, name: string): boolean {
  return openRegistries.get(kind)?.has(name) ?? false;
}
